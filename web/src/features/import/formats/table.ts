/** Reads delimited tables: those of known services by their headers, others by columns. */
import { normalizeHeader } from '../headers';
import type { Columns, Note, Questions, Reader, ReadOptions, Source } from '../parsed';
import type { Found, RowWriter } from '../rows';
import { undoFormula, undoFormulas } from '../../../lib/csv';
import { guessColumns, readColumns, WEB_URL } from './columns';
import { CsvRecords, firstRecords, isBlank, type CsvRecord, type Dialect } from './csvRecords';
import { detectDialect } from './dialect';
import type { Fields } from './fields';
import { serviceReader, type RecordReader } from './serviceReader';
import { serviceNamed, serviceOfTable, type Service } from './services';

/** Number of records shown to the user who maps columns. */
const SAMPLE = 5;
/** Number of records from which the columns are guessed. */
const GUESSED = 20;

/** What programs write for a value that is absent. */
const ABSENT = new Set(['NULL', 'null', '\\N']);
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', '0': '', '\\': '\\' };

/** How to read the cells of a record. */
type Plan =
  | { service: Service; read: RecordReader; headers: ReadonlyMap<string, number> }
  | { columns: Columns };

export class TableReader implements Reader {
  readonly #records: CsvRecords;
  readonly #plan: Plan;
  readonly #question: Questions['columns'];
  readonly #hasDirective: boolean;
  readonly #dialect: Dialect;
  #width = 0;
  #place = 0;
  #isStarted = false;

  /** `head` is the beginning of the text, which must also be passed to `write`. */
  constructor(
    head: string,
    options: ReadOptions,
    private readonly writer: RowWriter,
  ) {
    const { hasDirective, ...dialect } = detectDialect(head);
    const sample = firstRecords(head, dialect, GUESSED + 1)
      .slice(hasDirective ? 1 : 0)
      .filter((record) => !isBlank(record))
      .map(({ cells }) => cells);
    this.#plan = planOf(sample, options);
    // `mysql --batch` escapes with backslashes and uses no quotation marks.
    const isBatch = dialect.separator === '\t' && isDatabase(this.source());
    this.#dialect = isBatch ? { ...dialect, quoted: false, escaped: false } : dialect;
    this.#hasDirective = hasDirective;
    this.#question =
      'columns' in this.#plan && !options.columns ? questionOf(sample, this.#plan.columns) : null;
    this.#records = new CsvRecords(this.#dialect, (record) => this.#read(record));
  }

  write(text: string): void {
    this.#records.write(text);
  }

  end(): void {
    this.#records.end();
    if (this.#records.ignoresQuotes) this.writer.problem('quotes-ignored');
  }

  source(): Source {
    return 'service' in this.#plan ? this.#plan.service.source : 'csv';
  }

  question(): Questions['columns'] {
    return this.#question;
  }

  #read(record: CsvRecord): void {
    this.#place += 1;
    if (isBlank(record) || (this.#place === 1 && this.#hasDirective)) return;
    if (!this.#isStarted) {
      this.#isStarted = true;
      this.#width = record.cells.length;
      if (!('columns' in this.#plan) || this.#plan.columns.header) return;
    }
    // Read nothing until the user has chosen the column of the destination.
    if ('columns' in this.#plan && this.#plan.columns.destination === null) return;
    if (record.broken) {
      this.writer.fail(this.#place, 'quote-not-closed', record.cells[0]);
      return;
    }
    if (record.misquoted && record.cells.length < this.#width) {
      const shown = record.cells.join(this.#dialect.separator);
      this.writer.fail(this.#place, 'quote-misplaced', shown);
      return;
    }
    const fitted = fit(record.cells, this.#width, this.#dialect.separator);
    if (fitted === null) {
      const shown = record.cells.join(this.#dialect.separator);
      this.writer.fail(this.#place, 'too-many-columns', shown);
      return;
    }
    const found = this.#found(fitted.cells);
    if (found === null) {
      this.writer.problem('root-links-skipped');
      return;
    }
    const notes: Note[] = fitted.isJoined ? ['destination-joined'] : [];
    this.writer.add(this.#place, { ...found, notes: [...notes, ...(found.notes ?? [])] });
  }

  #found(cells: readonly string[]): Found | null {
    const plan = this.#plan;
    const values = cells.map((cell) => this.#valueOf(cell.trim()));
    if ('columns' in plan) return readColumns(values, plan.columns);
    return plan.read(fieldsOf(values, plan.headers));
  }

  /** Returns the text of a cell as it was before the program that wrote the table changed it. */
  #valueOf(cell: string): string {
    if (this.source() === 'atajo') return undoFormulas(cell);
    if (ABSENT.has(cell)) return '';
    return this.#dialect.quoted ? undoFormula(cell) : unescape(cell);
  }
}

function isDatabase(source: Source): boolean {
  return source === 'yourls' || source === 'polr';
}

/** Returns the cells of a record by the names of their columns. */
function fieldsOf(cells: readonly string[], headers: ReadonlyMap<string, number>): Fields {
  return (name) => {
    const index = headers.get(name);
    return index === undefined ? undefined : (cells[index] ?? '');
  };
}

/**
 * Chooses how to read a table: by the user's choice, else by the service of the headers, else by
 * columns.
 */
function planOf(sample: readonly string[][], options: ReadOptions): Plan {
  if (options.columns) return { columns: options.columns };
  const names = (sample[0] ?? []).map(normalizeHeader);
  const headers = new Map(names.map((name, index) => [name, index]));
  const fields = sample.slice(1).map((cells) => fieldsOf(cells, headers));
  const chosen = serviceNamed(options.source);
  const isRead = chosen && fields.some((field) => chosen.read(field)?.destination);
  const detected = options.source === undefined ? serviceOfTable(names) : undefined;
  const service = isRead ? chosen : detected;
  return service
    ? { service, read: serviceReader(service, names, fields), headers }
    : { columns: guessColumns(sample) };
}

function questionOf(sample: readonly string[][], guess: Columns): Questions['columns'] {
  const [first = [], ...rest] = sample;
  const headers = guess.header ? first.map((header) => header.trim()) : [];
  const shown = guess.header ? rest : sample;
  return {
    headers,
    sample: shown.slice(0, SAMPLE).map((cells) => cells.map((cell) => cell.trim())),
    guess,
  };
}

/**
 * Fits a record to the width of the header.
 *
 * If the last column is a URL that contains the separator, its parts are joined again. Returns null
 * if it is unclear which cells are excess.
 */
function fit(
  given: readonly string[],
  width: number,
  separator: string,
): { cells: readonly string[]; isJoined: boolean } | null {
  const cells = given.slice();
  while (cells.length > width && cells.at(-1)?.trim() === '') cells.pop();
  if (cells.length <= width) return { cells, isJoined: false };
  const last = cells.slice(width - 1).join(separator);
  if (!WEB_URL.test(last.trim())) return null;
  return { cells: [...cells.slice(0, width - 1), last], isJoined: true };
}

/** Unescapes a cell of `mysql --batch`. */
function unescape(cell: string): string {
  return cell.replace(/\\([ntr0\\])/g, (_all, letter: string) => ESCAPES[letter] ?? letter);
}
