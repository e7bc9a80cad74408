/**
 * Formats of days, shares, countries and languages in statistics.
 *
 * A day is a text such as `2026-11-22`, the same in every time zone. This module is separate from
 * format.ts, which loads with every page.
 */

import { language } from './language';
import { locale } from './locale';

const DAY = 24 * 3_600_000;

const days = once(() => formatter({ day: 'numeric', month: 'short', year: 'numeric' }));
const weekdays = once(() =>
  formatter({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' }),
);
const shortDays = once(() => formatter({ day: 'numeric', month: 'short' }));
const months = once(() => formatter({ month: 'long', year: 'numeric' }));
const shortMonths = once(() => formatter({ month: 'short', year: 'numeric' }));
const compact = once(() => new Intl.NumberFormat(locale.numbers, { notation: 'compact' }));
const percents = once(
  () => new Intl.NumberFormat(locale.numbers, { style: 'percent', maximumFractionDigits: 0 }),
);
const countries = once(() => new Intl.DisplayNames(language.tag, { type: 'region' }));
const languages = once(() => new Intl.DisplayNames(language.tag, { type: 'language' }));

/** Returns the IANA name of the viewer's time zone, such as 'Europe/Madrid'. */
export function viewerZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Cache of the milliseconds by which zones are ahead of UTC, by zone and quarter of an hour. */
const offsets = new Map<string, Map<number, number>>();
const QUARTER = 900_000;
const CLOCK = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const;
const clocks = new Map<string, Intl.DateTimeFormat>();

/**
 * Converts the local time of a zone, given in milliseconds as if it were UTC, to UTC.
 *
 * An unknown zone counts as UTC. A local time that occurs twice, when clocks go back, becomes one
 * of the two.
 */
export function fromZone(time: number, zone: string): number {
  if (zone === 'UTC') return time;
  try {
    return time - offsetAt(time - offsetAt(time, zone), zone);
  } catch {
    return time;
  }
}

function offsetAt(time: number, zone: string): number {
  const known = offsets.get(zone) ?? new Map<number, number>();
  offsets.set(zone, known);
  const start = Math.floor(time / QUARTER) * QUARTER;
  const offset = known.get(start) ?? measureOffset(start, zone);
  known.set(start, offset);
  return offset;
}

function measureOffset(time: number, zone: string): number {
  const parts = clockOf(zone).formatToParts(time);
  const [year, month, day, hour, minute, second] = CLOCK.map((type) =>
    Number(parts.find((part) => part.type === type)?.value ?? 0),
  );
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second) - time;
}

function clockOf(zone: string): Intl.DateTimeFormat {
  const digits = Object.fromEntries(CLOCK.map((part) => [part, 'numeric']));
  const clock =
    clocks.get(zone) ??
    new Intl.DateTimeFormat('en-GB', { ...digits, hourCycle: 'h23', timeZone: zone });
  clocks.set(zone, clock);
  return clock;
}

/** Returns the day `count` days later, or earlier if `count` is negative. */
export function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY).toISOString().slice(0, 10);
}

/** Returns the number of days from the first to the last, both inclusive. */
export function countDays(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY) + 1;
}

/** Whether a text is an existing day. */
export function isDay(text: string): boolean {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(day) && new Date(day).toISOString().startsWith(text);
}

/** '22 Nov 2026'. */
export function nameDay(day: string): string {
  return days().format(Date.parse(day));
}

/** 'Sun 22 Nov 2026'. */
export function nameWeekday(day: string): string {
  return weekdays().format(Date.parse(day)).replaceAll(',', '');
}

/** '22 Nov'. */
export function nameDayShort(day: string): string {
  return shortDays().format(Date.parse(day));
}

/** 'November 2026', for a day of that month. */
export function nameMonth(day: string): string {
  return months().format(Date.parse(day));
}

/** 'Nov 2026', for a day of that month. */
export function nameMonthShort(day: string): string {
  return shortMonths().format(Date.parse(day));
}

/** '12K', for places with little room. */
export function formatCompact(value: number): string {
  return compact().format(value);
}

/** '42%' for 0.42. */
export function formatPercent(share: number): string {
  return percents().format(share);
}

/** Formats a part of a whole, '42%'. A part greater than 0 is never '0%'. */
export function formatShare(part: number, whole: number): string {
  const share = part / whole;
  return part > 0 && share < 0.005 ? `<${formatPercent(0.01)}` : formatPercent(share);
}

/** 'Spain' for ES. An unknown country is returned as it is. */
export function nameCountry(code: string): string {
  return named(countries(), code);
}

/** 'Spanish' for es. An unknown language is returned as it is. */
export function nameLanguage(code: string): string {
  return named(languages(), code);
}

function named(names: Intl.DisplayNames, code: string): string {
  try {
    return names.of(code) ?? code;
  } catch {
    return code; // The code is malformed.
  }
}

function formatter(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(locale.dates, { ...options, timeZone: 'UTC' });
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
