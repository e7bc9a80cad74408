/** Texts of the importer, and of the codes in its results. */
import { messages as shared } from '../../components/messages';
import { counted } from '../../lib/counted';
import { formatNumber, plural } from '../../lib/format';
import type { Verdict } from '../../api';
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

/** State of a link at its source, in one word. */
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
  'quote-misplaced': 'A quotation mark is misplaced, so that a column is missing.',
  'too-many-columns': 'It has more columns than the header.',
  'not-an-entry': 'This is not a link.',
};

/** What was changed in a row or omitted from it. */
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
  'conditions-dropped':
    'Not imported: visit limits, start dates, cloaking, and other destinations for some devices or countries.',
  'ended-url-dropped': 'The destination after expiry is not imported.',
};

/** Problems of the whole file, with the number of affected entries. */
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

const links = (count: number) => counted(count, 'link', 'links');
const rows = (count: number) => counted(count, 'row', 'rows');

export const messages = {
  title: 'Import links',
  description: 'Bring your links from another URL shortener, a spreadsheet or your bookmarks.',
  yourLinks: 'Your links',
  intro:
    'Choose a file that another URL shortener exported, a spreadsheet saved as CSV, or exported bookmarks. Atajo reads Bitly, TinyURL, Rebrandly, Short.io, YOURLS, Shlink, Kutt, Dub, Sink, chhoto, Polr and its own exports.',
  limits: 'Up to 100,000 links and 50 MB. Nothing is imported before you have checked it.',
  file: 'File',
  choose: 'Choose a file',
  drop: 'You can also drop a file anywhere on this page.',
  paste: 'Or paste links',
  pasteHint: 'One link per line, or rows copied from a spreadsheet.',
  read: 'Read pasted text',
  nothingPasted: 'Paste some links first, or choose a file.',
  unreadableFile: 'The file could not be read. Choose it again, or save a copy of it first.',
  reading: 'Reading the file',
  readingOf: (name: string, percent: string) => `Reading ${name}: ${percent}`,
  pasted: 'the pasted text',
  canceled: 'Canceled',
  found: (count: number, name: string) => `${links(count)} found in ${name}`,
  format: 'Format',
  notSource: (name: string) =>
    `This file does not look like an export of ${name}. Check the columns below, or choose another format.`,
  zone: 'Time zone',
  columns: 'Columns',
  fields: {
    destination: 'Destination',
    code: 'Ending',
    title: 'Title',
    tags: 'Tags',
    created_at: 'Created',
    expires_at: 'Expires',
  } satisfies Record<string, string>,
  noColumn: 'None',
  column: (number: number, sample: string) =>
    sample === '' ? `Column ${formatNumber(number)}` : `Column ${formatNumber(number)}: ${sample}`,
  hasHeader: 'The first row names the columns',
  sample: 'First rows of the file',
  noDestination: 'Choose the column with the destinations.',
  applyColumns: 'Use these columns',
  otherFile: 'Choose another file',
  check: 'Check these links',
  checkHint: 'The check writes nothing.',
  checking: 'Checking the links',
  checkingOf: (done: number, total: number) => `${formatNumber(done)} of ${rows(total)} checked`,
  checkFailed: 'The links could not be checked. Please try again.',
  checked: (count: number) => `${rows(count)} checked`,
  filter: 'Show',
  all: 'all',
  filterOf: (name: string, count: number) => `${name} ${formatNumber(count)}`,
  options: 'Options',
  newCodes: 'Give new codes where needed',
  newCodesHint: (count: number) =>
    `${counted(count, 'link has', 'links have')} an ending that cannot be used here.`,
  include: (state: SourceState, count: number) =>
    `Import links ${stateAtSource[state]} (${formatNumber(count)})`,
  rowsList: 'Checked rows',
  row: (place: number) => `Row ${formatNumber(place)}`,
  noEnding: 'no ending',
  missingEnding: 'The link has no ending.',
  download: 'Download the check as CSV',
  checkFile: 'atajo-import-check.csv',
  import: (count: number) => `Import ${links(count)}`,
  nothing:
    'There is nothing to import. Correct the rows in your file, or change the options above.',
  preparing: 'Preparing the import',
  importing: 'Importing the links',
  importingOf: (done: number, total: number) => `${formatNumber(done)} of ${rows(total)} done`,
  goesOn: 'If you close this page, the import continues the next time you open it.',
  stay: 'This browser cannot store the import. Keep this page open until it is finished.',
  waiting: (when: string) =>
    `The server is busy or a limit is reached. The import continues ${when}.`,
  checkWaiting: (when: string) => `The server is busy. The check continues ${when}.`,
  pause: 'Pause',
  paused: 'The import is paused.',
  continue: 'Continue',
  stop: 'Stop importing',
  importFailed: 'The import stopped. Links that are already imported are kept.',
  full: `${shared.accountFull} Links that are already imported are kept.`,
  lost: 'This browser no longer has the rows of the import that was interrupted. Choose the file again: links that are already imported are recognized.',
  foreign:
    'An import was started in this browser by another account. Log in to that account to continue it, or discard it.',
  discard: 'Discard it',
  imported: (count: number) => `${counted(count, 'link was', 'links were')} imported.`,
  notImported: (count: number) =>
    `${counted(count, 'row was', 'rows were')} not imported. The CSV says why.`,
  downloadResults: 'Download old and new short URLs as CSV',
  resultsFile: 'atajo-import.csv',
  resultColumns: ['Old short URL', 'New short URL', 'Destination', 'Result'],
  checkColumns: ['Row', 'Ending', 'Destination', 'Verdict', 'What happens', 'Cause'],
  another: 'Import another file',
  downloadFailed: 'The download failed. Please try again.',
};

export const past = {
  heading: 'Recent imports',
  loading: 'Loading your imports',
  loadFailed: 'Your imports did not load.',
  hint: 'An import can be undone for 30 days.',
  item: (moment: string, count: number) => `${moment}: ${links(count)}`,
  removed: (count: number) => `${links(count)} removed again`,
  undo: 'Undo this import',
  undoOf: (moment: string) => `Undo this import of ${moment}`,
  question: 'Undo this import?',
  warning: (count: number) =>
    `${plural(count, 'The link that it created is', 'The links that it created are')} removed, except for those that you have changed since. You can restore them for 30 days.`,
  undone: (count: number) => `${counted(count, 'link was', 'links were')} removed.`,
  failed: 'The import was not undone. Please try again.',
  gone: 'This import can no longer be undone.',
};

const stateAtSource: Record<SourceState, string> = {
  archived: 'that are archived at the source',
  deleted: 'that are deleted at the source',
  disabled: 'that are disabled at the source',
  expired: 'that have expired',
  secret: 'that are protected at the source',
};

export const tableColumns = ['Row', 'Ending and destination', 'Verdict', 'What happens'];

/** Why short URLs cannot move, which is shown before anything else. */
export const cannotMove = {
  bookmarks: 'Bookmarks have no short URLs. Each of them gets a new one.',
  host: (host: string) =>
    `Short URLs at ${host} cannot move: ${host} decides where they lead. Atajo imports their endings and destinations, and creates short URLs of its own.`,
  otherHost: 'the other host',
};

/** Results of the check, in a word or two. */
export const verdictNames: Record<Verdict, string> = {
  new: 'new',
  exists: 'exists',
  taken: 'taken',
  reserved: 'reserved',
  'not a code': 'not a code',
  refused: 'refused',
  'not http': 'not http',
  duplicate: 'duplicate',
  unreadable: 'unreadable',
};

/** What is wrong with a row, by the result of its check. */
export const verdictCauses: Record<Verdict, string> = {
  new: '',
  exists: 'You already have this link.',
  taken: 'This ending is taken.',
  reserved: 'This ending is reserved.',
  'not a code': 'An ending has 4–32 letters, digits, hyphens or underscores.',
  refused: 'The destination is blocked, or is a short URL of this site.',
  'not http': 'The destination is not a web address.',
  duplicate: 'An earlier row has the same ending and destination.',
  unreadable: 'The row could not be read.',
};

/** What happens to a row. */
export const actions = {
  import: 'Will be imported.',
  newEnding: 'Will get a new ending.',
  skipped: 'Skipped.',
  skippedAs: (state: string) => `Skipped, because it is ${state} at the source.`,
  correct: (place: number) =>
    `Skipped. Correct row ${formatNumber(place)} in the file and choose it again.`,
};
