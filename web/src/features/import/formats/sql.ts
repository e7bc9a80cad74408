/** Reads the INSERT statements of SQL dumps of YOURLS and Polr. */
import { normalizeHeader } from '../headers';
import type { Reader, Source } from '../parsed';
import type { RowWriter } from '../rows';
import { serviceOfTable, type Service } from './services';
import { SqlTokens, type Token } from './sqlTokens';

/** Columns of tables whose INSERT statements name none. The number of values limits them. */
const KNOWN: readonly { table: RegExp; columns: readonly string[] }[] = [
  { table: /(?:^|_)url$/i, columns: ['keyword', 'url', 'title', 'timestamp', 'ip', 'clicks'] },
  {
    table: /(?:^|_)links$/i,
    columns: [
      'id',
      'short_url',
      'long_url',
      'ip',
      'creator',
      'clicks',
      'secret_key',
      'is_disabled',
      'is_custom',
      'is_api',
      'created_at',
      'updated_at',
      'long_url_hash',
    ],
  },
];

export class SqlReader implements Reader {
  #text = '';
  #source: Source = 'yourls';
  #place = 0;
  #isKnown = false;
  /** Columns by table, as CREATE TABLE names them. */
  readonly #created = new Map<string, string[]>();

  constructor(private readonly writer: RowWriter) {}

  write(text: string): void {
    this.#text += text;
  }

  end(): void {
    const tokens = new SqlTokens(this.#text);
    this.#text = '';
    while (!tokens.isAtEnd) this.#readStatement(tokens);
    if (!this.#isKnown) this.writer.problem('no-known-table');
  }

  source(): Source {
    return this.#source;
  }

  #readStatement(tokens: SqlTokens): void {
    const first = wordOf(tokens.next());
    if (first === 'CREATE') this.#readCreate(tokens);
    else if (first === 'INSERT' || first === 'REPLACE') this.#readInsert(tokens);
    tokens.skipStatement();
  }

  #readCreate(tokens: SqlTokens): void {
    const name = tokens.skipTo('(');
    if (name === null) return;
    const columns: string[] = [];
    // A definition begins with its column's name. Keys and constraints come later and do no harm.
    let depth = 1;
    let isFirst = true;
    for (let token = tokens.next(); token !== null && depth > 0; token = tokens.next()) {
      if (isFirst && token.kind === 'word') columns.push(token.text);
      isFirst = false;
      if (token.text === '(' && token.kind === 'sign') depth += 1;
      else if (token.text === ')' && token.kind === 'sign') depth -= 1;
      else if (token.text === ';' && token.kind === 'sign') return;
      else if (token.text === ',' && token.kind === 'sign' && depth === 1) isFirst = true;
      if (depth === 0) break;
    }
    this.#created.set(name, columns);
  }

  #readInsert(tokens: SqlTokens): void {
    const head = tokens.insertHead();
    if (head === null) return;
    let plan: ReturnType<typeof this.planOf> | undefined;
    for (let values = tokens.tuple(); values !== null; values = tokens.tuple()) {
      plan ??= this.planOf(head.table, head.columns, values.length);
      if (plan === null) return;
      this.#isKnown = true;
      this.#source = plan.service.source;
      this.#place += 1;
      const { indexes, service } = plan;
      const found = service.read((name) => {
        const index = indexes.get(name);
        return index === undefined ? undefined : (values[index] ?? '');
      });
      if (found) this.writer.add(this.#place, found);
      if (!tokens.takeComma()) return;
    }
  }

  /** Returns how to read the rows of a table, or null if it has no links. */
  private planOf(
    table: string,
    named: readonly string[],
    width: number,
  ): { service: Service; indexes: Map<string, number> } | null {
    const known = KNOWN.find((one) => one.table.test(table))?.columns;
    const created = this.#created.get(table);
    const columns = named.length > 0 ? named : (created ?? known?.slice(0, width) ?? []);
    const names = columns.map(normalizeHeader);
    const service = serviceOfTable(names);
    if (service?.source !== 'yourls' && service?.source !== 'polr') return null;
    return { service, indexes: new Map(names.map((name, index) => [name, index])) };
  }
}

function wordOf(token: Token | null): string {
  return token?.kind === 'word' ? token.text.toUpperCase() : '';
}
