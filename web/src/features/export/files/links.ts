/** `links.csv` and `links.json`: every field of every link. The importer reads both. */
import { linkFields } from '../../../api/functions';
import { BOM, CSV_TYPE, csvLine, type Cell } from '../../../lib/csv';
import type { ExportedLink } from '../exported';

export type Format = 'csv' | 'json';

/** All fields of a link except its recent views. */
const FIELDS = [
  'code' as const,
  'short_link' as const,
  ...linkFields.filter((field) => field !== 'code' && field !== 'recent'),
];

export interface LinksWriter {
  type: string;
  head: string;
  /** The line of one link. */
  line: (link: ExportedLink, isFirst: boolean) => string;
  foot: string;
}

/** Writers of `links.csv`, for spreadsheets, and of `links.json`, an array of objects. */
export const linksWriters: Record<Format, LinksWriter> = {
  csv: {
    type: CSV_TYPE,
    head: BOM + csvLine(FIELDS),
    line: (link) => csvLine(Object.values(recordOf(link))),
    foot: '',
  },
  json: {
    type: 'application/json',
    head: '[',
    line: (link, isFirst) => `${isFirst ? '' : ','}\n${JSON.stringify(recordOf(link))}`,
    foot: '\n]\n',
  },
};

/** The same with the earlier destinations, as JSON in the CSV file. */
export const historyWriters: Record<Format, LinksWriter> = {
  csv: {
    ...linksWriters.csv,
    head: BOM + csvLine([...FIELDS, 'history']),
    line: (link) => csvLine([...Object.values(recordOf(link)), JSON.stringify(link.history)]),
  },
  json: {
    ...linksWriters.json,
    line: ({ history, ...link }, isFirst) => {
      const record = { ...recordOf({ ...link, history }), history };
      return `${isFirst ? '' : ','}\n${JSON.stringify(record)}`;
    },
  },
};

function recordOf(link: ExportedLink): Record<string, Cell> {
  const { short_url = null, scan_code = null, domain = null } = link;
  const all = { ...link, short_link: link.code, short_url, scan_code, domain };
  return Object.fromEntries(FIELDS.map((field) => [field, all[field]]));
}
