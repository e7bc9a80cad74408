/** Reads JSON: pages of the services' APIs, exports, and lists of objects with unknown fields. */
import { normalizeHeader } from '../headers';
import type { Columns, Questions, Reader, ReadOptions, Source } from '../parsed';
import type { RowWriter } from '../rows';
import { guessColumns, readColumns } from './columns';
import { isObject, textOf } from './fields';
import { parseJson } from './jsonText';
import { serviceReader } from './serviceReader';
import { serviceNamed, serviceOfEntry, type Service } from './services';

/** Keys that contain the entries of a page. */
const CONTAINERS = ['links', 'data', 'shortUrls', 'items', 'urls', 'results'] as const;
/** Number of entries from which the source and the columns are detected. */
const SAMPLE = 20;
const SHOWN = 5;
/** Maximum depth of pages in lists and of containers in containers. */
const MAX_DEPTH = 5;

/** Cache of normalized keys. */
const names = new Map<string, string>();
const MAX_NAMES = 1_000;

export class JsonReader implements Reader {
  #text = '';
  #source: Source;
  #question: Questions['columns'] = null;

  constructor(
    private readonly options: ReadOptions,
    private readonly writer: RowWriter,
  ) {
    this.#source = options.source ?? 'csv';
  }

  write(text: string): void {
    this.#text += text;
  }

  end(): void {
    const { values, isRepaired, isBroken } = parseJson(this.#text);
    this.#text = '';
    if (isRepaired) this.writer.problem('json-repaired');
    if (isBroken) this.writer.problem('json-broken');
    const entries = values.flatMap((value) => entriesOf(value, MAX_DEPTH));
    const sample = entries.filter(isObject).slice(0, SAMPLE);
    const service = this.#serviceOf(sample);
    if (service) this.#readService(entries, service, sample);
    else if (sample.length > 0) this.#readColumns(entries, sample);
  }

  source(): Source {
    return this.#source;
  }

  question(): Questions['columns'] {
    return this.#question;
  }

  /**
   * Returns the service that the user chose if it finds destinations, else that of the first known
   * entry.
   */
  #serviceOf(sample: readonly Record<string, unknown>[]): Service | undefined {
    if (this.options.columns) return undefined;
    const chosen = serviceNamed(this.options.source);
    if (chosen && sample.some((entry) => chosen.read(fieldsOf(entry))?.destination)) return chosen;
    if (this.options.source !== undefined) return undefined;
    for (const entry of sample) {
      const service = serviceOfEntry(Object.keys(entry).map(normalizeHeader));
      if (service) return service;
    }
    return undefined;
  }

  #readService(
    entries: readonly unknown[],
    service: Service,
    sample: readonly Record<string, unknown>[],
  ): void {
    this.#source = service.source;
    const keys = [...new Set(sample.flatMap((entry) => Object.keys(entry).map(nameOf)))];
    const read = serviceReader(service, keys, sample.map(fieldsOf));
    entries.forEach((entry, index) => {
      if (!isObject(entry)) {
        this.writer.fail(index + 1, 'not-an-entry', textOf(entry));
        return;
      }
      const found = read(fieldsOf(entry));
      if (found) this.writer.add(index + 1, found);
      else this.writer.problem('root-links-skipped');
    });
  }

  /** Reads entries with the keys of all sample entries as columns. */
  #readColumns(entries: readonly unknown[], sample: readonly Record<string, unknown>[]): void {
    this.#source = 'csv';
    const headers = [...new Set(sample.flatMap((entry) => Object.keys(entry)))];
    const cellsOf = (entry: Record<string, unknown>) =>
      headers.map((header) => (Object.hasOwn(entry, header) ? cellOf(entry[header]) : ''));
    const rows = sample.map(cellsOf);
    const guess: Columns = { ...guessColumns([headers, ...rows]), header: true };
    const columns = this.options.columns ?? guess;
    if (!this.options.columns) this.#question = { headers, sample: rows.slice(0, SHOWN), guess };
    if (columns.destination === null) return;
    entries.forEach((entry, index) => {
      if (isObject(entry)) this.writer.add(index + 1, readColumns(cellsOf(entry), columns));
      else this.writer.fail(index + 1, 'not-an-entry', textOf(entry));
    });
  }
}

/** Returns the entries of a page, of a list of pages, or of a list. */
function entriesOf(value: unknown, depth: number): unknown[] {
  if (depth === 0) return [value];
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown) => (isPage(item) ? entriesOf(item, depth - 1) : [item]));
  }
  if (!isObject(value)) return [];
  const inner = CONTAINERS.map((key) => value[key]).find(isContainer);
  if (inner === undefined) return [value];
  // YOURLS numbers its links: {"links": {"link_1": {…}, "link_2": {…}}}.
  const isNumbered = isObject(inner) && Object.keys(inner).some((key) => /^link_\d+$/.test(key));
  return entriesOf(isNumbered ? Object.values(inner) : inner, depth - 1);
}

function isPage(value: unknown): boolean {
  return isObject(value) && CONTAINERS.some((key) => isContainer(value[key]));
}

function isContainer(value: unknown): value is unknown[] | Record<string, unknown> {
  return Array.isArray(value) || isObject(value);
}

function fieldsOf(entry: Record<string, unknown>): (name: string) => unknown {
  const values = new Map(Object.entries(entry).map(([key, value]) => [nameOf(key), value]));
  return (name) => values.get(name);
}

/** Normalizes a key. Every entry has the same keys, so the result is cached. */
function nameOf(key: string): string {
  const name = names.get(key) ?? normalizeHeader(key);
  if (names.size < MAX_NAMES) names.set(key, name);
  return name;
}

function cellOf(value: unknown): string {
  return Array.isArray(value) ? (value as unknown[]).map(textOf).join(',') : textOf(value);
}
