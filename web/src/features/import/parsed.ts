/** What the importer reads out of a file: rows, problems and questions, all of them without words. */

/** The most rows of one import. */
export const MAX_ROWS = 100_000;

/** Where a file comes from. `csv` is a table (or JSON) with columns of its own. */
export const SOURCES = [
  'atajo',
  'bitly',
  'bookmarks',
  'chhoto',
  'csv',
  'dub',
  'kutt',
  'polr',
  'rebrandly',
  'shlink',
  'shortio',
  'sink',
  'spoo',
  'tinycc',
  'tinyurl',
  'yourls',
] as const;
export type Source = (typeof SOURCES)[number];

/** Why a link does not simply work at its source. Such rows are skipped unless selected. */
export type SourceState = 'archived' | 'deleted' | 'disabled' | 'expired' | 'secret';

/** Why nothing can be made of a row. */
export type Cause =
  | 'no-destination'
  | 'destination-too-long'
  | 'quote-not-closed'
  | 'too-many-columns'
  | 'not-an-entry';

/** What was changed in a row, or left out of it. */
export type Note =
  | 'created-dropped'
  | 'created-unreadable'
  | 'expires-dropped'
  | 'expires-unreadable'
  | 'title-cut'
  | 'title-cleaned'
  | 'tags-dropped'
  | 'tag-cut'
  | 'destination-joined'
  | 'one-of-several'
  | 'conditions-dropped'
  | 'ended-url-dropped';

export interface Row {
  /** Identifies the row within its import: 1, 2, 3 and so on. */
  row: number;
  /**
   * The position in the file, counted from 1: of a record of a table (the header is one), of an
   * entry or of a bookmark. An entry with two endings makes two rows with one position.
   */
  place: number;
  /** The ending exactly as the source writes it, valid here or not; null where it has none. */
  code: string | null;
  /** The whole short URL at the source, where the file has it. */
  short_url: string | null;
  destination: string;
  title: string;
  tags: string[];
  /** ISO 8601 in UTC, as of `expires_at`. */
  created_at: string | null;
  expires_at: string | null;
  state: SourceState | null;
  /** Set where the row has the verdict `unreadable`. */
  unreadable: Cause | null;
  notes: Note[];
}

export type ProblemCode =
  | 'archive'
  | 'descriptions-dropped'
  | 'empty'
  | 'encoding-guessed'
  | 'json-broken'
  | 'json-repaired'
  | 'no-known-table'
  | 'no-rows'
  | 'not-text'
  | 'quotes-ignored'
  | 'root-links-skipped'
  | 'bookmarks-skipped'
  | 'too-large'
  | 'too-many-rows'
  | 'workbook';

/** Something about the whole file. `count` is how many entries it concerns, at least 1. */
export interface Problem {
  code: ProblemCode;
  count: number;
}

/** The columns of a table by their index from 0; null where there is none. */
export interface Columns {
  /** Whether the first record names the columns. */
  header: boolean;
  code: number | null;
  destination: number | null;
  title: number | null;
  tags: number | null;
  created_at: number | null;
  expires_at: number | null;
}

export interface Questions {
  /** Set where dates have no zone, also after the user chose one. UTC is assumed before. */
  zone: { count: number } | null;
  /** Set where the columns were guessed. `sample` has the first records after the header. */
  columns: { headers: string[]; sample: string[][]; guess: Columns } | null;
}

export interface Summary {
  source: Source;
  problems: Problem[];
  questions: Questions;
}

export interface Parsed extends Summary {
  rows: Row[];
}

export interface ReadOptions {
  /** The current time in milliseconds since 1970. Dates after it are dropped. */
  now: number;
  /** The source that the user chose instead of the detected one. */
  source?: Source | undefined;
  /** IANA name of the zone of dates without one. */
  zone?: string | undefined;
  /** The columns that the user chose for a table without known headers. */
  columns?: Columns | undefined;
}

/** Takes the text of a file piece by piece. */
export interface Reader {
  write: (text: string) => void;
  end: () => void;
  /** Final after `end`. */
  source: () => Source;
}
