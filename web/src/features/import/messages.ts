/** What the importer says: the words for the codes of its results. */
import { formatNumber, plural } from '../../lib/format';
import type { Cause, Note, ProblemCode, Source, SourceState } from './parsed';

export const sourceNames: Record<Source, string> = {
  atajo: 'Atajo',
  bitly: 'Bitly',
  bookmarks: 'Browser bookmarks',
  chhoto: 'chhoto',
  csv: 'Other table',
  dub: 'Dub',
  kutt: 'Kutt',
  polr: 'Polr',
  rebrandly: 'Rebrandly',
  shlink: 'Shlink',
  shortio: 'Short.io',
  sink: 'Sink',
  spoo: 'spoo.me',
  tinycc: 'tiny.cc',
  tinyurl: 'TinyURL',
  yourls: 'YOURLS',
};

/** What a link is at its source, in one word beside it. */
export const stateNames: Record<SourceState, string> = {
  archived: 'archived',
  deleted: 'deleted',
  disabled: 'disabled',
  expired: 'expired',
  secret: 'protected',
};

/** Why a row is unreadable. */
export const causes: Record<Cause, string> = {
  'no-destination': 'The destination is missing.',
  'destination-too-long': 'The destination is longer than 999 characters.',
  'quote-not-closed': 'A quotation mark is not closed.',
  'too-many-columns': 'It has more columns than the header.',
  'not-an-entry': 'This is not a link.',
};

/** What was changed in a row, or left out of it. */
export const notes: Record<Note, string> = {
  'created-dropped': 'The creation date is in the future or before 1995 and is not imported.',
  'created-unreadable': 'The creation date could not be read and is not imported.',
  'expires-dropped': 'The expiry date is before 1995 or after 9999 and is not imported.',
  'expires-unreadable': 'The expiry date could not be read and is not imported.',
  'title-cut': 'The title was cut to 100 characters.',
  'title-cleaned': 'Line breaks and control characters in the title were replaced by spaces.',
  'tags-dropped': 'Only the first 10 tags are imported.',
  'tag-cut': 'Tags were cut to 30 characters.',
  'destination-joined': 'The destination contains the separator. Check that it is complete.',
  'one-of-several': 'This link has several endings. Each becomes a link.',
  'conditions-dropped': 'Visit limits and start dates are not imported.',
  'ended-url-dropped': 'The destination after expiry is not imported.',
};

/** What concerns the whole file, with how many entries it concerns. */
export const problems: Record<ProblemCode, (count: number) => string> = {
  archive: () => 'This is a compressed file. Unpack it first.',
  'bookmarks-skipped': (count) =>
    `${counted(count, 'bookmark is', 'bookmarks are')} not a web address and skipped.`,
  'descriptions-dropped': (count) =>
    `${counted(count, 'description is', 'descriptions are')} not imported.`,
  empty: () => 'This file is empty.',
  'encoding-guessed': () =>
    'This file is not UTF-8 and was read as Windows-1252. Check the accented letters.',
  'json-broken': () => 'Part of this JSON file could not be read. It may be incomplete.',
  'json-repaired': () => 'This JSON file contains control characters. They were read as text.',
  'no-known-table': () => 'No links of YOURLS or Polr were found in this SQL file.',
  'no-rows': () => 'This file contains no links.',
  'not-text': () => 'This is not a text file.',
  'quotes-ignored': () =>
    'Too many quotation marks are not closed. The rest of the file was read without them.',
  'root-links-skipped': (count) =>
    `${counted(count, 'link is', 'links are')} the root of a domain, without an ending, and skipped.`,
  'too-large': () => 'This file is larger than 50 MB.',
  'too-many-rows': (count) =>
    `Only the first 100,000 rows are imported. ${counted(count, 'row is', 'rows are')} left out.`,
  workbook: () => 'This is an Excel workbook or a ZIP file. Save the table as CSV first.',
};

/** The question about dates without a zone. */
export const zoneQuestion = (count: number) =>
  `${counted(count, 'date has', 'dates have')} no time zone. Choose the one of the server that wrote them.`;

export const columnsQuestion = 'Which columns hold the links? Check the suggestions.';

function counted(count: number, one: string, many: string): string {
  return `${formatNumber(count)} ${plural(count, one, many)}`;
}
