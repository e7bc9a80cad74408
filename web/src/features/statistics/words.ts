/** What the statistics say. */
import type { Dimension, Span } from '../../api';
import { nameCountry, nameDay, nameLanguage } from '../../lib/calendar';
import { formatNumber } from '../../lib/format';
import { nameSpan } from './spans';

export const loadFailed = 'The statistics did not load.';
export const tooManyLinks =
  'There are more than 100,000 links. Each of them has its statistics on its own page.';
export const nobodyCame = 'Nobody came in this span.';
/** In a zone such as Asia/Kolkata. */
export const partHours =
  'This time zone is not a whole number of hours from UTC. Visits are kept by UTC hour, and each counts where its hour began.';
export const notNew = 'These figures may be old: newer ones did not come.';

/** Of days that the operator does not keep. */
export function notKept(keptFrom: string): string {
  return `Visits by day are not kept from before ${nameDay(keptFrom)}.`;
}

/** The dimensions in the order of the page, with the words above each. */
export const dimensions = [
  { key: 'referrer', text: 'Where from' },
  { key: 'device', text: 'Devices' },
  { key: 'country', text: 'Countries' },
  { key: 'browser', text: 'Browsers' },
  { key: 'system', text: 'Systems' },
  { key: 'language', text: 'Languages' },
  { key: 'source', text: 'Reached by' },
] as const satisfies readonly { key: Dimension; text: string }[];

const sources: Record<string, string> = { link: 'Link', qr: 'QR code' };

/** A name of a breakdown as people read it. */
export function nameOf(dimension: Dimension, name: string): string {
  if (name === '') return dimension === 'referrer' ? 'No page' : 'Unknown';
  if (name === '*') return 'Others';
  if (dimension === 'country') return nameCountry(name);
  if (dimension === 'language') return nameLanguage(name);
  if (dimension === 'source') return sources[name] ?? name;
  if (dimension === 'device') return name.charAt(0).toUpperCase() + name.slice(1);
  return name;
}

/** 'the 30 days before'. */
export function theSpanBefore(span: Span): string {
  return `the ${nameSpan(span)} before`;
}

/** A figure beside that of a span before, '38 % more than the 30 days before'; '' beside nothing. */
export function compare(now: number, before: number, span: string): string {
  if (now === 0 && before === 0) return '';
  if (now === before) return `as many as ${span}`;
  if (before === 0) return `none in ${span}`;
  const percent = Math.round((100 * Math.abs(now - before)) / before);
  if (percent === 0) return `about as many as ${span}`;
  return `${formatNumber(percent)} % ${now > before ? 'more' : 'fewer'} than ${span}`;
}
