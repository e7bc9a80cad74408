/** Reads tables with unknown columns: guesses their fields, unless the user has chosen them. */
import { normalizeHeader } from '../headers';
import type { Columns } from '../parsed';
import type { Found } from '../rows';
import { pathOf } from '../shortUrls';
import { listOf, textOf } from './fields';

type Field = Exclude<keyof Columns, 'header'>;

/** Normalized headers of each field, the more specific ones first. */
const NAMES: Record<Field, readonly string[]> = {
  code: [
    'code',
    'shortcode',
    'slug',
    'alias',
    'customalias',
    'keyword',
    'backhalf',
    'slashtag',
    'ending',
    'key',
    'path',
    'shortpath',
    'shortid',
    'shorturl',
    'shortlink',
    'shortenedurl',
    'tinyurl',
    'short',
    'source',
    'from',
  ],
  destination: [
    'destination',
    'destinationurl',
    'longurl',
    'longlink',
    'originalurl',
    'originallink',
    'targeturl',
    'target',
    'redirecturl',
    'fullurl',
    'url',
    'link',
    'href',
    'address',
    'website',
    'original',
    'to',
  ],
  title: ['title', 'name', 'description', 'label', 'note', 'notes', 'comment'],
  tags: ['tags', 'tag', 'labels', 'categories', 'category', 'folder', 'group'],
  created_at: [
    'createdat',
    'created',
    'datecreated',
    'creationdate',
    'createdon',
    'dateadded',
    'timestamp',
    'date',
  ],
  expires_at: ['expiresat', 'expires', 'expiry', 'expirydate', 'expiration', 'expirationdate'],
};
const FIELDS = Object.keys(NAMES) as Field[];
export const WEB_URL = /^https?:\/\/\S/i;

/** Whether one of these normalized headers names a destination. */
export function looksLikeColumns(headers: readonly string[]): boolean {
  return headers.some((header) => NAMES.destination.includes(header));
}

/** Guesses the columns by their headers, the destination and the ending also by their contents. */
export function guessColumns(records: readonly string[][]): Columns {
  const [first = [], ...rest] = records;
  const headers = first.map(normalizeHeader);
  const header = !first.some((cell) => WEB_URL.test(cell.trim())) && isHeader(headers, rest);
  const sample = header ? rest : records;
  const named = (field: Field) => {
    const name = header ? NAMES[field].find((option) => headers.includes(option)) : undefined;
    return name === undefined ? null : headers.indexOf(name);
  };
  const guess = Object.fromEntries(FIELDS.map((field) => [field, named(field)]));
  const columns = { header, ...(guess as Record<Field, number | null>) };
  const urls = urlColumns(sample);
  const destination = columns.destination ?? urls[0] ?? null;
  // A second column of URLs contains the short URLs. Of two columns, the other one contains the
  // endings.
  const other = first.length === 2 && destination !== null ? 1 - destination : null;
  const code =
    columns.code ?? urls.find((index) => index !== destination) ?? (header ? null : other);
  return { ...columns, destination, code: code === destination ? null : code };
}

function isHeader(headers: readonly string[], rest: readonly string[][]): boolean {
  const isNamed = FIELDS.some((field) => NAMES[field].some((name) => headers.includes(name)));
  return isNamed || urlColumns(rest).length > 0;
}

/** Returns the indexes of the columns with URLs, the one with the longest URLs first. */
function urlColumns(records: readonly string[][]): number[] {
  const lengths = new Map<number, number>();
  for (const cells of records) {
    cells.forEach((cell, index) => {
      if (!WEB_URL.test(cell.trim())) return;
      lengths.set(index, (lengths.get(index) ?? 0) + cell.trim().length);
    });
  }
  return [...lengths].sort(([, one], [, other]) => other - one).map(([index]) => index);
}

export function readColumns(cells: readonly string[], columns: Columns): Found {
  const cell = (field: Field) => textOf(cells[columns[field] ?? -1]);
  return {
    codes: [pathOf(cell('code'))],
    shortUrls: [cell('code')],
    destination: cell('destination'),
    title: cell('title'),
    tags: listOf(cell('tags'), /[,;|]/),
    created: cell('created_at'),
    expires: cell('expires_at'),
  };
}
