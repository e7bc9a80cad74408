/** Which symbol a text becomes: its level, its version, and what room is left in the largest. */
export const levels = ['L', 'M', 'Q', 'H'] as const;
export type Level = (typeof levels)[number];

type Mode = 'digits' | 'capitals' | 'bytes';

/** How many characters share how many bits of data. */
const packing: Record<Mode, { characters: number; bits: number }> = {
  digits: { characters: 3, bits: 10 },
  capitals: { characters: 2, bits: 11 },
  bytes: { characters: 1, bits: 8 },
};

/** Bits of a segment's mode indicator. */
const MODE_BITS = 4;

/** Bits of the designator that names UTF-8: the mode indicator and the number 26 in a byte. */
const ECI_BITS = MODE_BITS + 8;

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

/** Bits of the character count in versions up to 9, up to 26, and above. */
const lengthBits: Record<Mode, [number, number, number]> = {
  digits: [10, 12, 14],
  capitals: [9, 11, 13],
  bytes: [8, 16, 16],
};

/** Below this version, 100 x 100 pixels hide more than level H mends: tests/system/qr/table.md, "Logos". */
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
  const eciBits = needsEci(text) ? ECI_BITS : 0;
  const used = mode === 'bytes' ? new TextEncoder().encode(text).length : text.length;
  const room = capacities(level, mode, eciBits);
  const smallest = room.findIndex((characters) => used <= characters) + 1;
  return {
    level,
    raised: chosen === null,
    leastVersion,
    modules: smallest === 0 ? null : 17 + 4 * Math.max(smallest, leastVersion),
    used,
    capacity: room.at(-1) ?? 0,
    unit: mode === 'bytes' ? 'bytes' : 'characters',
  };
}

/**
 * Whether a symbol names its character encoding (ECI 26, UTF-8). Without that, readers guess: ZBar
 * takes UTF-8 bytes for Big5 or Shift JIS. ASCII is the same in every encoding, and some readers
 * print the designator, so that ASCII text has none.
 */
export function needsEci(text: string): boolean {
  return /[^\p{ASCII}]/u.test(text);
}

function modeOf(text: string): Mode {
  if (/^[0-9]*$/.test(text)) return 'digits';
  return /^[A-Z0-9 $%*+./:-]*$/.test(text) ? 'capitals' : 'bytes';
}

/** Characters that fit in one segment, by version from 1 to 40. */
function capacities(level: Level, mode: Mode, eciBits: number): number[] {
  const { characters, bits } = packing[mode];
  return dataBytes[level].map((bytes, index) => {
    const countBits = lengthBits[mode][index < 9 ? 0 : index < 26 ? 1 : 2];
    const dataBits = bytes * 8 - eciBits - MODE_BITS - countBits;
    return Math.floor((dataBits * characters) / bits);
  });
}

/** Whether there is nothing to encode. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** Half a character (a lone surrogate) cannot be encoded; it becomes the sign for what is missing. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
