import { type Filled, unlessFaulty, type Written } from './written';

export type LocationField = 'latitude' | 'longitude';

const POLE = 90;
const DATE_LINE = 180;

/** Degrees with a point or a comma, as maps give them. */
const DEGREES = /^([+-]?)0*(\d{1,3})(?:[.,](\d{1,12}))?$/;

/** Both of them in one, as maps copy them: '40.4168, -3.7038'. */
const PAIR = /^\s*([+-]?\d+\.\d+)\s*[,;\s]\s*([+-]?\d+\.\d+)\s*$/;

/** A `geo:` URI (RFC 5870) of a place on earth (WGS 84). At a pole every longitude is the same: 0. */
export function writeLocation(filled: Filled<LocationField>): Written<LocationField> {
  const latitude = parseDegrees(filled.latitude, POLE);
  const longitude = parseDegrees(filled.longitude, DATE_LINE);
  const faults = {
    latitude: latitude === null ? `Enter degrees from -${POLE} to ${POLE}` : undefined,
    longitude: longitude === null ? `Enter degrees from -${DATE_LINE} to ${DATE_LINE}` : undefined,
  };
  return unlessFaulty(faults, () => {
    const atPole = Math.abs(Number(latitude)) === POLE;
    return `geo:${latitude ?? ''},${atPole ? '0' : (longitude ?? '')}`;
  });
}

/** Puts a pair that was pasted into the first field into both. */
export function splitPair(filled: Filled<LocationField>): Filled<LocationField> {
  const [, latitude, longitude] = PAIR.exec(filled.latitude) ?? [];
  return latitude && longitude ? { latitude, longitude } : filled;
}

/** A number in plain digits, as the grammar has it; null where it is none or too large. */
function parseDegrees(given: string, most: number): string | null {
  const [, sign, whole, fraction = ''] = DEGREES.exec(given.trim()) ?? [];
  if (whole === undefined) return null;
  const digits = fraction.replace(/0+$/, '');
  const size = digits === '' ? whole : `${whole}.${digits}`;
  if (Number(size) > most) return null;
  return sign === '-' && Number(size) !== 0 ? `-${size}` : size;
}
