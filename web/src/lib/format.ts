/**
 * Formats numbers, dates and durations, as usual in the visitor's region.
 *
 * Creating a formatter is slow, so it happens on first use.
 */

import { language } from './language';
import { locale } from './locale';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const numbers = once(() => new Intl.NumberFormat(locale.numbers));
const plurals = once(() => new Intl.PluralRules(language.tag));
const spans = once(() => new Intl.RelativeTimeFormat(locale.numbers));
const moments = once(() => new Intl.DateTimeFormat(locale.dates, { dateStyle: 'medium' }));
const instants = once(
  () => new Intl.DateTimeFormat(locale.dates, { dateStyle: 'medium', timeStyle: 'short' }),
);
const zones = once(() => new Intl.DateTimeFormat(locale.dates, { timeZoneName: 'long' }));
const days = once(
  () => new Intl.DateTimeFormat(language.dates, { dateStyle: 'long', timeZone: 'UTC' }),
);

/** '1,204'. */
export function formatNumber(value: number): string {
  return numbers().format(value);
}

/** Returns the singular or the plural for a number: 'link', 'links'. */
export function plural(count: number, one: string, many: string): string {
  return plurals().select(count) === 'one' ? one : many;
}

/**
 * The day of a time (ISO 8601) in the viewer's time zone, '20 Nov 2026'; null if the time is
 * invalid.
 */
export function formatMoment(moment: string): string | null {
  const date = new Date(moment);
  return Number.isNaN(date.getTime()) ? null : moments().format(date);
}

/** A time (ISO 8601) to the minute in the viewer's time zone, '20 Nov 2026, 18:00'. */
export function formatInstant(moment: string): string {
  return instants().format(new Date(moment));
}

/** The viewer's time zone at a time, 'Central European Standard Time'. */
export function formatZone(moment: Date): string {
  const part = zones()
    .formatToParts(moment)
    .find(({ type }) => type === 'timeZoneName');
  return part?.value ?? '';
}

/**
 * The value of a datetime-local field for a time, in the viewer's time zone: '2026-11-20T18:00'.
 */
export function toLocalField(moment: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = [moment.getFullYear(), two(moment.getMonth() + 1), two(moment.getDate())].join('-');
  return `${day}T${two(moment.getHours())}:${two(moment.getMinutes())}`;
}

/**
 * A day (ISO 8601, no time), the same in every time zone: '20 November 2026'. Prerendered documents
 * contain it, so it does not depend on the visitor's region.
 */
export function formatDay(day: string): string {
  return days().format(new Date(day));
}

/** A duration in milliseconds from now in words, rounded up: 'in 42 seconds'. */
export function fromNow(duration: number): string {
  if (duration > 90 * MINUTE) return spans().format(Math.ceil(duration / HOUR), 'hour');
  if (duration > 90 * SECOND) return spans().format(Math.ceil(duration / MINUTE), 'minute');
  return spans().format(Math.max(Math.ceil(duration / SECOND), 1), 'second');
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
