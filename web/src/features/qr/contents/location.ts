import { problems } from './messages';
import { plainNumber } from './pasted';
import { type Filled, unlessFaulty, type Written } from './written';

export type LocationField = 'latitude' | 'longitude';

const POLE = 90;
const DATE_LINE = 180;

/** Maximum decimals of degrees, and decimals of converted minutes and seconds (a centimeter). */
const MAX_DECIMALS = 12;
const CONVERTED_DECIMALS = 7;

/** A coordinate: degrees, with minutes and seconds if given, and an optional direction letter. */
const COORDINATE = new RegExp(
  '^(?<before>[NSEW])?\\s*(?<sign>[+-]?)\\s*(?<degrees>\\d{1,3}(?:[.,]\\d+)?)\\s*°?' +
    `(?:\\s*(?<minutes>\\d{1,2}(?:[.,]\\d+)?)\\s*['′’]` +
    `(?:\\s*(?<seconds>\\d{1,2}(?:[.,]\\d+)?)\\s*(?:["”]|['′’]{2}))?)?` +
    '\\s*(?<after>[NSEW])?$',
  'i',
);

/** A `geo:` URI. Ignores what follows its two numbers. */
const GEO_URI = /^geo:\s*([^,]+),([^,;?]+)/i;

/** Separators of two coordinates, the least ambiguous first. No space follows a decimal comma. */
const SEPARATORS = [
  /\s*;\s*/,
  /\s*,\s+/,
  /,(?=[-+NSEW]|\d+\.)/i,
  /(?<=[NSEW])(?:\s*,\s*|\s+)(?=\d)/i,
  /\s+(?=[NSEW]\s*\d)/i,
  /\s+/,
];

/** Writes a `geo:` URI (RFC 5870, WGS 84). At a pole, all longitudes are equal: writes 0. */
export function writeLocation(filled: Filled<LocationField>): Written<LocationField> {
  const split = splitPair(filled);
  const latitude = parseDegrees(split.latitude, 'NS', POLE);
  const longitude = parseDegrees(split.longitude, 'EW', DATE_LINE);
  const faults = {
    latitude: latitude === null ? problems.degrees(POLE) : undefined,
    longitude: longitude === null ? problems.degrees(DATE_LINE) : undefined,
  };
  return unlessFaulty(faults, () => {
    const atPole = Math.abs(Number(latitude)) === POLE;
    return `geo:${latitude ?? ''},${atPole ? '0' : (longitude ?? '')}`;
  });
}

/** Splits a pair of coordinates in the first field, as copied from a map, into both fields. */
export function splitPair(filled: Filled<LocationField>): Filled<LocationField> {
  const pair = plainNumber(filled.latitude).replace(/^[([]\s*(.*?)\s*[)\]]$/, '$1');
  const [, fromUri, toUri] = GEO_URI.exec(pair) ?? [];
  if (fromUri && toUri) return { latitude: fromUri.trim(), longitude: toUri.trim() };
  if (COORDINATE.test(pair)) return filled;
  for (const separator of SEPARATORS) {
    const parts = pair.split(separator);
    const [first = '', second = ''] = parts;
    if (parts.length !== 2 || !COORDINATE.test(first) || !COORDINATE.test(second)) continue;
    return /[EW]/i.test(first)
      ? { latitude: second, longitude: first }
      : { latitude: first, longitude: second };
  }
  return filled;
}

/**
 * Parses degrees into a decimal number in the grammar of `geo:` URIs. Returns null if they are
 * invalid, exceed `max`, or have another direction than `letters`, the positive one first.
 */
function parseDegrees(given: string, letters: 'NS' | 'EW', max: number): string | null {
  const parts = COORDINATE.exec(plainNumber(given))?.groups;
  if (!parts) return null;
  const { before, sign, after } = parts;
  const letter = (before ?? after ?? '').toUpperCase();
  // Only one sign of direction is valid: not two letters, and no minus with a letter.
  if (!letters.includes(letter) || (before && after) || (letter && sign === '-')) return null;
  const size = sizeOf(parts);
  if (size === null || Number(size) > max) return null;
  const isNegative = sign === '-' || letter === letters[1];
  return isNegative && Number(size) !== 0 ? `-${size}` : size;
}

/** Returns degrees without a sign as a decimal number; null if a part is out of range. */
function sizeOf({ degrees = '', minutes, seconds }: Record<string, string>): string | null {
  const [whole, sixtieths, rest] = [degrees, minutes, seconds].map((part) =>
    part?.replace(',', '.'),
  );
  if (whole === undefined) return null;
  if (sixtieths === undefined) {
    const decimals = whole.split('.')[1]?.length ?? 0;
    return plain(decimals > MAX_DECIMALS ? Number(whole).toFixed(MAX_DECIMALS) : whole);
  }
  // Only the last part may have decimals.
  const isMixed = whole.includes('.') || (rest !== undefined && sixtieths.includes('.'));
  if (isMixed || Number(sixtieths) >= 60 || Number(rest ?? 0) >= 60) return null;
  const size = Number(whole) + Number(sixtieths) / 60 + Number(rest ?? 0) / 3600;
  return plain(size.toFixed(CONVERTED_DECIMALS));
}

/** Removes insignificant zeros. */
function plain(decimal: string): string {
  return decimal
    .replace(/^0+(?=\d)/, '')
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
}
