/** What a file of links has in it. */
import type { Link } from '../../api';

export type Format = 'csv' | 'json';

const FIELDS = [
  'code',
  'short_link',
  'long_link',
  'title',
  'tags',
  'state',
  'reason',
  'created_at',
  'changed_at',
  'expires_at',
  'ended_url',
  'public_statistics',
  'views',
  'bots',
] as const;

/** What a spreadsheet would take for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

interface Form {
  type: string;
  head: string;
  /** Of one link, whether it is the first or not. */
  line: (link: Link, first: boolean) => string;
  foot: string;
}

/** RFC 4180 in UTF-8, with the mark by which spreadsheets know that; and an array of objects. */
export const forms: Record<Format, Form> = {
  csv: {
    type: 'text/csv;charset=utf-8',
    head: `\ufeff${FIELDS.join(',')}\r\n`,
    line: (link) => `${Object.values(recordOf(link)).map(cell).join(',')}\r\n`,
    foot: '',
  },
  json: {
    type: 'application/json',
    head: '[',
    line: (link, first) => `${first ? '' : ','}\n${JSON.stringify(recordOf(link))}`,
    foot: '\n]\n',
  },
};

type Value = string | number | boolean | null | string[];

function recordOf(link: Link): Record<(typeof FIELDS)[number], Value> {
  const all = { ...link, short_link: link.code };
  return Object.fromEntries(FIELDS.map((field) => [field, all[field]])) as Record<
    (typeof FIELDS)[number],
    Value
  >;
}

/** A text that looks like a formula has a ' in front of it, so that no spreadsheet reckons with it. */
function cell(value: Value): string {
  if (value === null) return '';
  const text = Array.isArray(value) ? value.join(';') : String(value);
  const safe = typeof value !== 'number' && FORMULA.test(text) ? `'${text}` : text;
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
