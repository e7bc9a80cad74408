/** What a file of links has in it. */
import type { Link } from '../../api';
import { linkFields } from '../../api/functions';
import { BOM, CSV_TYPE, csvLine, type Cell } from '../../lib/csv';

export type Format = 'csv' | 'json';

/** All fields of a link but its latest views. */
const FIELDS = [
  'code' as const,
  'short_link' as const,
  ...linkFields.filter((field) => field !== 'code' && field !== 'recent'),
];

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

function recordOf(link: Link): Record<string, Cell> {
  const all = { ...link, short_link: link.code, scan_code: link.scan_code ?? null };
  return Object.fromEntries(FIELDS.map((field) => [field, all[field]]));
}
