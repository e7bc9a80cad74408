/** Results of reading a file: rows, problems and questions, all as codes without UI text. */

/** Maximum rows of one import. */
export const MAX_ROWS = 100_000;

/** Source of a file. `csv` is a table (or JSON) with unknown columns. */
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

/** Why a link does not redirect everyone at its source. Such rows are skipped unless selected. */
export type SourceState = 'archived' | 'deleted' | 'disabled' | 'expired' | 'secret';

/** Why a row cannot be read. */
export type Cause =
  | 'no-destination'
  | 'destination-too-long'
  | 'quote-not-closed'
  | 'quote-misplaced'
  | 'too-many-columns'
  | 'not-an-entry';

/** What was changed in a row or omitted from it. */
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
   * Position in the file, counted from 1, of the record (including the header), the entry or the
   * bookmark. An entry with two endings makes two rows with the same position.
   */
  place: number;
  /** The ending exactly as at the source, valid here or not; null if there is none. */
  code: string | null;
  /** The whole short URL at the source, if the file contains it. */
  short_url: string | null;
  destination: string;
  title: string;
  tags: string[];
  /** ISO 8601 in UTC, like `expires_at`. */
  created_at: string | null;
  expires_at: string | null;
  /** Domain of the short URL in Atajo's own exports. Another instance does not keep it. */
  domain?: string;
  state: SourceState | null;
  /** Set if the row has the verdict `unreadable`. */
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

/** A problem of the whole file. `count` is the number of affected entries, at least 1. */
export interface Problem {
  code: ProblemCode;
  count: number;
}

/** Columns of a table by their index from 0; null if there is none. */
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
  /** Set if dates have no time zone, even after the user chose one. The default is UTC. */
  zone: { count: number } | null;
  /** Set if the columns were guessed. `sample` contains the first records after the header. */
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
  /** IANA name of the time zone of dates without one. */
  zone?: string | undefined;
  /** The columns that the user chose for a table without known headers. */
  columns?: Columns | undefined;
}

/** Reads the text of a file piece by piece. */
export interface Reader {
  write: (text: string) => void;
  end: () => void;
  /** Final after `end`. */
  source: () => Source;
}
