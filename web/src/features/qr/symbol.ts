/** Which symbol a text becomes: its level, its version, and what room is left in the largest. */
export const levels = ['L', 'M', 'Q', 'H'] as const;
export type Level = (typeof levels)[number];

type Mode = 'digits' | 'capitals' | 'bytes';

/** Characters in the largest symbol, by level and kind of text. */
const capacities: Record<Level, Record<Mode, number>> = {
  L: { digits: 7089, capitals: 4296, bytes: 2953 },
  M: { digits: 5596, capitals: 3391, bytes: 2331 },
  Q: { digits: 3993, capitals: 2420, bytes: 1663 },
  H: { digits: 3057, capitals: 1852, bytes: 1273 },
};

/** Bytes of data in the symbols of version 1 to 40. */
const dataBytes: Record<Level, number[]> = {
  L: [
    19, 34, 55, 80, 108, 136, 156, 194, 232, 274, 324, 370, 428, 461, 523, 589, 647, 721, 795, 861,
    932, 1006, 1094, 1174, 1276, 1370, 1468, 1531, 1631, 1735, 1843, 1955, 2071, 2191, 2306, 2434,
    2566, 2702, 2812, 2956,
  ],
  M: [
    16, 28, 44, 64, 86, 108, 124, 154, 182, 216, 254, 290, 334, 365, 415, 453, 507, 563, 627, 669,
    714, 782, 860, 914, 1000, 1062, 1128, 1193, 1267, 1373, 1455, 1541, 1631, 1725, 1812, 1914,
    1992, 2102, 2216, 2334,
  ],
  Q: [
    13, 22, 34, 48, 62, 76, 88, 110, 132, 154, 180, 206, 244, 261, 295, 325, 367, 397, 445, 485,
    512, 568, 614, 664, 718, 754, 808, 871, 911, 985, 1033, 1115, 1171, 1231, 1286, 1354, 1426,
    1502, 1582, 1666,
  ],
  H: [
    9, 16, 26, 36, 46, 60, 66, 86, 100, 122, 140, 158, 180, 197, 223, 253, 283, 313, 341, 385, 406,
    442, 464, 514, 538, 596, 628, 661, 701, 745, 793, 845, 901, 961, 986, 1054, 1096, 1142, 1222,
    1276,
  ],
};

/** Bits that tell a text's length in versions up to 9, up to 26, and above. */
const lengthBits: Record<Mode, [number, number, number]> = {
  digits: [10, 12, 14],
  capitals: [9, 11, 13],
  bytes: [8, 16, 16],
};

/** Below this version, 100 x 100 pixels hide more than level H mends: tests/qr/table.md, "Logos". */
const LEAST_VERSION_WITH_LOGO = 3;

export interface QrSymbol {
  level: Level;
  /** Whether a higher level is taken where the symbol does not grow by it. */
  raised: boolean;
  leastVersion: number;
  /** Modules along a side; null where the text does not fit. */
  modules: number | null;
  used: number;
  capacity: number;
  /** What used and capacity count. */
  unit: 'characters' | 'bytes';
}

/**
 * A logo hides modules, so a code that carries one corrects as many errors as there is a level for.
 * `chosen` is a person's level; null leaves it to the text and the logo.
 */
export function symbolFor(text: string, hasLogo: boolean, chosen: Level | null = null): QrSymbol {
  const level = chosen ?? (hasLogo ? 'H' : 'L');
  const leastVersion = hasLogo ? LEAST_VERSION_WITH_LOGO : 1;
  const mode = modeOf(text);
  const used = mode === 'bytes' ? new TextEncoder().encode(text).length : text.length;
  const version = versionFor(used, mode, level);
  return {
    level,
    raised: chosen === null,
    leastVersion,
    modules: version && 17 + 4 * Math.max(version, leastVersion),
    used,
    capacity: capacities[level][mode],
    unit: mode === 'bytes' ? 'bytes' : 'characters',
  };
}

function modeOf(text: string): Mode {
  if (/^[0-9]*$/.test(text)) return 'digits';
  return /^[A-Z0-9 $%*+./:-]*$/.test(text) ? 'capitals' : 'bytes';
}

function versionFor(used: number, mode: Mode, level: Level): number | null {
  const data = { digits: (used * 10) / 3, capitals: (used * 11) / 2, bytes: used * 8 }[mode];
  const at = dataBytes[level].findIndex((room, index) => {
    const length = lengthBits[mode][index < 9 ? 0 : index < 26 ? 1 : 2];
    return 4 + length + Math.ceil(data) <= room * 8;
  });
  return at < 0 ? null : at + 1;
}

/** Whether there is nothing to encode. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** Half a character (a lone surrogate) cannot be encoded; it becomes the sign for what is missing. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
