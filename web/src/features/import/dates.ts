/** Parses dates in the exact formats that services write. Does not guess natural language. */
import { fromZone } from '../../lib/calendar';

export interface Instant {
  /** Milliseconds since 1970. */
  time: number;
  /** Whether the text contains its time zone. */
  zoned: boolean;
}

/** ISO 8601 with `Z`, `+00:00`, `+0000` or `+00`, or without a zone; a space may replace the `T`. */
const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)? ?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;
/** `13.05.2023 10:05`: with dots, the day always comes first. */
const DOTTED = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:,? (\d{1,2}):(\d\d)(?::(\d\d))?)?$/;
const EPOCH = /^-?\d{1,17}(?:\.\d{1,9})?$/;
/** What databases write for a missing date. */
const ABSENT = /^(?:0000-00-00(?: 00:00:00)?)?$/;

/** Returns the instant of a date, null if there is none, 'unreadable' if the format is unknown. */
export function readInstant(value: unknown, zone: string): Instant | null | 'unreadable' {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'string' && typeof value !== 'number') return 'unreadable';
  const text = String(value).trim();
  if (ABSENT.test(text)) return null;
  if (EPOCH.test(text)) return { time: epochTime(Number(text)), zoned: true };
  return readIso(text.replace(DOTTED, toIso), zone) ?? 'unreadable';
}

/** Rewrites the parts of a dotted date in ISO 8601, without a zone. */
function toIso(_all: string, day: string, month: string, year: string, ...time: unknown[]): string {
  const [hour = '0', minute = '00', second = '00'] = time.slice(0, 3) as (string | undefined)[];
  const two = (part: string) => part.padStart(2, '0');
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${minute}:${second}`;
}

/**
 * Converts an epoch to milliseconds: it is in seconds below 1e11, in milliseconds below 1e14, else
 * in microseconds.
 */
function epochTime(value: number): number {
  const size = Math.abs(value);
  if (size < 1e11) return Math.floor(value * 1_000);
  return Math.floor(size < 1e14 ? value : value / 1_000);
}

function readIso(text: string, zone: string): Instant | null {
  const parts = ISO.exec(text);
  if (!parts) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((part: string | undefined) => Number(part ?? 0));
  const milliseconds = Number((parts[7] ?? '').padEnd(3, '0').slice(0, 3));
  const time = Date.UTC(year, month - 1, day, hour, minute, second, milliseconds);
  // Date.UTC rolls over: 30 February is 1 March.
  const exists =
    year >= 1000 &&
    hour < 24 &&
    minute < 60 &&
    second < 60 &&
    new Date(time).getUTCMonth() === month - 1 &&
    new Date(time).getUTCDate() === day;
  if (!exists) return null;
  const offset = parts[8];
  if (offset === undefined) return { time: fromZone(time, zone), zoned: false };
  return { time: time - offsetOf(offset), zoned: true };
}

/** Returns the milliseconds by which an offset such as `+02:00` is ahead of UTC. */
function offsetOf(text: string): number {
  if (text.toUpperCase() === 'Z') return 0;
  const digits = text.replace(/\D/g, '').padEnd(4, '0');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (text.startsWith('-') ? -minutes : minutes) * 60_000;
}
