/** What a file of links has in it. */
import type { Link } from '../../api';
import { BOM, CSV_TYPE, csvLine, type Cell } from '../../lib/csv';

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
  'scan_code',
] as const;

interface Form {
  type: string;
  head: string;
  /** Of one link, whether it is the first or not. */
  line: (link: Link, first: boolean) => string;
  foot: string;
}

/** A table for spreadsheets, and an array of objects. */
export const forms: Record<Format, Form> = {
  csv: {
    type: CSV_TYPE,
    head: BOM + csvLine(FIELDS),
    line: (link) => csvLine(Object.values(recordOf(link))),
    foot: '',
  },
  json: {
    type: 'application/json',
    head: '[',
    line: (link, first) => `${first ? '' : ','}\n${JSON.stringify(recordOf(link))}`,
    foot: '\n]\n',
  },
};

function recordOf(link: Link): Record<(typeof FIELDS)[number], Cell> {
  const all = { ...link, short_link: link.code, scan_code: link.scan_code ?? null };
  return Object.fromEntries(FIELDS.map((field) => [field, all[field]])) as Record<
    (typeof FIELDS)[number],
    Cell
  >;
}
