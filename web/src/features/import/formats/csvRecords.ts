/** Splits the text of a table into records, piece by piece, with PapaParse. */
import Papa, { type ParseResult } from 'papaparse';

/** Syntax of a table. */
export interface Dialect {
  separator: string;
  /** A line feed also ends lines with CR LF. The CR then counts as white space. */
  newline: '\n' | '\r';
  /** Whether cells may be in quotation marks. */
  quoted: boolean;
  /** Whether a backslash escapes quotation marks in cells, as MySQL writes them. */
  escaped: boolean;
}

export interface CsvRecord {
  /** The only cell of a broken record is its first line. */
  cells: string[];
  /** Whether a quotation mark is not closed. The record then ends with its line. */
  broken: boolean;
  /** Whether a quotation mark is misplaced, so that a cell may contain the next one. */
  misquoted: boolean;
}

/** Characters that are parsed at once, and thus the maximum length of a record. */
const WINDOW = 1 << 18;
/** Number of broken records after which quotation marks are ordinary characters. */
const MAX_BROKEN = 100;
/** Not characters: no text contains them. */
const NO_QUOTE = '\uffff';
const ESCAPED_QUOTE = '\ufffe';

export class CsvRecords {
  #text = '';
  #broken = 0;
  /** A backslash at the end of a piece, whose next character is in the next piece. */
  #backslash = '';

  constructor(
    private readonly dialect: Dialect,
    private readonly emit: (record: CsvRecord) => void,
  ) {}

  /** Whether quotation marks are ignored because too many were not closed. */
  get ignoresQuotes(): boolean {
    return this.#broken > MAX_BROKEN;
  }

  write(text: string): void {
    this.#text += this.dialect.escaped ? this.#unescape(text) : text;
    while (this.#text.length >= WINDOW) this.#take();
  }

  end(): void {
    const { newline } = this.dialect;
    this.#text += this.#backslash;
    if (this.#text !== '' && !this.#text.endsWith(newline)) this.#text += newline;
    while (this.#text !== '') this.#take();
  }

  /** Replaces escaped quotation marks by a sign that the parser takes for no quotation mark. */
  #unescape(text: string): string {
    const whole = this.#backslash + text;
    const pending = (/\\*$/.exec(whole)?.[0].length ?? 0) % 2;
    this.#backslash = pending === 1 ? '\\' : '';
    return whole
      .slice(0, whole.length - pending)
      .replace(/\\(["\\])/g, (_all, sign: string) => (sign === '"' ? ESCAPED_QUOTE : sign));
  }

  /** Emits the complete records of the window, at least one. */
  #take(): void {
    const text = this.#text.slice(0, WINDOW);
    const { data, errors, meta } = this.#parse(text);
    // A misplaced quotation mark is harmless, unless it merges several lines into one record.
    const error = errors.find(({ row }) => /[\r\n]/.test(data[row ?? 0]?.join('') ?? '\n'));
    const good = error ? (error.row ?? 0) : data.length;
    const misquoted = new Set(errors.map(({ row }) => row));
    data.slice(0, good).forEach((cells, row) => {
      this.#emit({ cells, broken: false, misquoted: misquoted.has(row) });
    });
    if (!error && data.length > 0) this.#drop(meta.cursor);
    else this.#takeBroken(error ? (error.index ?? 0) : meta.cursor);
  }

  /** Emits the line at this index as a broken record, and continues after it. */
  #takeBroken(index: number): void {
    const { newline } = this.dialect;
    const start = index === 0 ? 0 : this.#text.lastIndexOf(newline, index - 1) + 1;
    const end = this.#text.indexOf(newline, start);
    const line = this.#text.slice(start, end === -1 ? this.#text.length : end);
    this.#emit({ cells: [line], broken: true, misquoted: true });
    this.#broken += 1;
    this.#drop(end === -1 ? this.#text.length : end + newline.length);
  }

  #emit(record: CsvRecord): void {
    const { escaped } = this.dialect;
    const restore = (cell: string) => cell.replaceAll(ESCAPED_QUOTE, '"');
    this.emit(escaped ? { ...record, cells: record.cells.map(restore) } : record);
  }

  #drop(length: number): void {
    this.#text = this.#text.slice(length);
  }

  #parse(text: string): ParseResult<string[]> {
    const parser = new Papa.Parser({
      delimiter: this.dialect.separator,
      newline: this.dialect.newline,
      quoteChar: this.dialect.quoted && !this.ignoresQuotes ? '"' : NO_QUOTE,
      fastMode: false,
    });
    return parser.parse(text, 0, true) as ParseResult<string[]>;
  }
}

/** Returns the first records of a text, at most `limit`. */
export function firstRecords(text: string, dialect: Dialect, limit: number): CsvRecord[] {
  const records: CsvRecord[] = [];
  const reader = new CsvRecords(dialect, (record) => {
    if (records.length < limit) records.push(record);
  });
  reader.write(text);
  reader.end();
  return records;
}

export function isBlank({ cells }: CsvRecord): boolean {
  return cells.every((cell) => cell.trim() === '');
}
