/** The QR symbol of a text: error correction level, minimum version, size and capacity. */

export const levels = ['L', 'M', 'Q', 'H'] as const;
export type Level = (typeof levels)[number];

type Mode = 'numeric' | 'alphanumeric' | 'byte';

/** Characters that are encoded together, and the data bits they take. */
const packing: Record<Mode, { characters: number; bits: number }> = {
  numeric: { characters: 3, bits: 10 },
  alphanumeric: { characters: 2, bits: 11 },
  byte: { characters: 1, bits: 8 },
};

/** Bits of the mode indicator of a segment. */
const MODE_BITS = 4;

/** Bits of the ECI header for UTF-8: the mode indicator, and assignment number 26 in one byte. */
const ECI_BITS = MODE_BITS + 8;

/** Data codewords (bytes) of a symbol, for versions 1 to 40. */
const dataCodewords: Record<Level, number[]> = {
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

/** Bits of the character count indicator in versions 1 to 9, 10 to 26 and 27 to 40. */
const countIndicatorBits: Record<Mode, [number, number, number]> = {
  numeric: [10, 12, 14],
  alphanumeric: [9, 11, 13],
  byte: [8, 16, 16],
};

/**
 * In smaller versions, a logo of 100 x 100 pixels hides more than level H can correct:
 * tests/system/qr/table.md, "Logos".
 */
const MIN_VERSION_WITH_LOGO = 3;

export interface QrSymbol {
  level: Level;
  /** Whether the encoder raises the level as far as the version stays the same. */
  raised: boolean;
  leastVersion: number;
  /** Modules along a side; null if the text does not fit. */
  modules: number | null;
  /** Length of the text, in `unit`. */
  used: number;
  /** Capacity of version 40 at this level, in `unit`. */
  capacity: number;
  unit: 'characters' | 'bytes';
}

/**
 * Returns the symbol for a text. `chosen` is the level that the user chose; null selects it
 * automatically: H with a logo, which hides modules, otherwise L or higher.
 */
export function symbolFor(text: string, hasLogo: boolean, chosen: Level | null = null): QrSymbol {
  const level = chosen ?? (hasLogo ? 'H' : 'L');
  const leastVersion = hasLogo ? MIN_VERSION_WITH_LOGO : 1;
  const mode = modeOf(text);
  const eciBits = needsEci(text) ? ECI_BITS : 0;
  const used = mode === 'byte' ? new TextEncoder().encode(text).length : text.length;
  const room = capacities(level, mode, eciBits);
  const smallest = room.findIndex((characters) => used <= characters) + 1;
  return {
    level,
    raised: chosen === null,
    leastVersion,
    modules: smallest === 0 ? null : 17 + 4 * Math.max(smallest, leastVersion),
    used,
    capacity: room.at(-1) ?? 0,
    unit: mode === 'byte' ? 'bytes' : 'characters',
  };
}

/**
 * Returns whether the symbol must declare its character encoding (ECI 26, UTF-8).
 *
 * Without the declaration, readers guess: ZBar takes UTF-8 bytes for Big5 or Shift JIS. ASCII text
 * has none, because it is the same in every encoding and some readers print the designator.
 */
export function needsEci(text: string): boolean {
  return /[^\p{ASCII}]/u.test(text);
}

function modeOf(text: string): Mode {
  if (/^[0-9]*$/.test(text)) return 'numeric';
  return /^[A-Z0-9 $%*+./:-]*$/.test(text) ? 'alphanumeric' : 'byte';
}

/** Returns the characters (bytes in byte mode) that fit in one segment, for versions 1 to 40. */
function capacities(level: Level, mode: Mode, eciBits: number): number[] {
  const { characters, bits } = packing[mode];
  return dataCodewords[level].map((bytes, index) => {
    const countBits = countIndicatorBits[mode][index < 9 ? 0 : index < 26 ? 1 : 2];
    const dataBits = bytes * 8 - eciBits - MODE_BITS - countBits;
    return Math.floor((dataBits * characters) / bits);
  });
}

export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** Replaces lone surrogates, which UTF-8 cannot encode, with U+FFFD. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
