/** Splits SQL into tokens. Tolerates unknown syntax. */

export interface Token {
  kind: 'word' | 'text' | 'sign';
  text: string;
}

const SPACE = /\s*/y;
const QUOTED_NAME = /`([^`]*)`|"([^"]*)"|\[([^\]]*)\]/y;
const WORD = /[^\s'"`,;()[\]]+/y;
/** Start and end of comments. */
const COMMENTS = [
  ['--', '\n'],
  ['#', '\n'],
  ['/*', '*/'],
] as const;
const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t', '0': '', b: '', Z: '' };

export class SqlTokens {
  #at = 0;
  readonly #hasEscapes: boolean;

  constructor(private readonly text: string) {
    this.#hasEscapes = !/^(?:PRAGMA|BEGIN TRANSACTION)|PostgreSQL/m.test(text.slice(0, 10_000));
  }

  get isAtEnd(): boolean {
    this.#skipSpace();
    return this.#at >= this.text.length;
  }

  next(): Token | null {
    if (this.isAtEnd) return null;
    const name = this.#take(QUOTED_NAME);
    if (name) {
      const [, ticked, quoted, bracketed] = name as (string | undefined)[];
      return { kind: 'word', text: ticked ?? quoted ?? bracketed ?? '' };
    }
    if (this.text.charAt(this.#at) === "'") return { kind: 'text', text: this.#literal() };
    const word = this.#take(WORD);
    if (word) return { kind: 'word', text: word[0] };
    const sign = this.text.charAt(this.#at);
    this.#at += 1;
    return { kind: 'sign', text: sign };
  }

  /** Skips the rest of the current statement. */
  skipStatement(): void {
    if (this.text.charAt(this.#at - 1) === ';') return;
    for (let token = this.next(); token !== null; token = this.next()) {
      if (token.kind === 'sign' && token.text === ';') return;
    }
  }

  /**
   * Skips past the next `sign` in the statement. Returns the last word before it, or null if the
   * statement ends first.
   */
  skipTo(sign: string): string | null {
    let last = '';
    for (let token = this.next(); token !== null; token = this.next()) {
      if (token.kind === 'sign' && token.text === sign) return last;
      if (token.kind === 'sign' && token.text === ';') return null;
      if (token.kind === 'word') last = token.text;
    }
    return null;
  }

  /** Reads the table and the columns of an INSERT, up to and including VALUES. */
  insertHead(): { table: string; columns: string[] } | null {
    let table = '';
    const columns: string[] = [];
    let isInList = false;
    for (let token = this.next(); token !== null; token = this.next()) {
      if (token.kind === 'sign' && token.text === ';') return null;
      if (token.kind === 'sign' && token.text === '(') isInList = true;
      else if (token.kind === 'word' && !isInList && /^VALUES?$/i.test(token.text)) break;
      else if (token.kind === 'sign' && token.text === ')') isInList = false;
      else if (token.kind === 'word' && isInList) columns.push(token.text);
      else if (token.kind === 'word') table = tableOf(token.text);
    }
    return { table, columns };
  }

  /**
   * Reads the values in the next parentheses, null for NULL. Returns null if there are no
   * parentheses.
   */
  tuple(): (string | null)[] | null {
    this.#skipSpace();
    if (this.text.charAt(this.#at) !== '(') return null;
    this.#at += 1;
    const values: (string | null)[] = [];
    let value: string | null = null;
    for (let token = this.next(); token !== null; token = this.next()) {
      if (token.kind === 'sign' && token.text === ')') return [...values, value];
      if (token.kind === 'sign' && token.text === ',') {
        values.push(value);
        value = null;
      } else if (token.kind !== 'word' || !/^(?:NULL|_binary|E|N)$/i.test(token.text)) {
        value = (value ?? '') + token.text;
      }
    }
    return null;
  }

  takeComma(): boolean {
    this.#skipSpace();
    if (this.text.charAt(this.#at) !== ',') return false;
    this.#at += 1;
    return true;
  }

  /** Skips white space and comments. */
  #skipSpace(): void {
    for (;;) {
      this.#take(SPACE);
      const end = COMMENTS.find(([start]) => this.text.startsWith(start, this.#at))?.[1];
      if (end === undefined) return;
      const index = this.text.indexOf(end, this.#at);
      this.#at = index === -1 ? this.text.length : index + end.length;
    }
  }

  /** Reads the string that begins here. An unclosed string extends to the end of the file. */
  #literal(): string {
    const start = this.#at + 1;
    let quote = this.text.indexOf("'", start);
    for (; quote !== -1; quote = this.text.indexOf("'", quote + 1)) {
      if (this.#hasEscapes && this.#isEscaped(quote, start)) continue;
      if (this.text.charAt(quote + 1) !== "'") break;
      quote += 1;
    }
    const end = quote === -1 ? this.text.length : quote;
    this.#at = end + 1;
    return this.#unescape(this.text.slice(start, end));
  }

  /** Whether an odd number of backslashes precedes this index. */
  #isEscaped(index: number, start: number): boolean {
    let before = index - 1;
    while (before >= start && this.text.charAt(before) === '\\') before -= 1;
    return (index - before) % 2 === 0;
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.text);
    if (match) this.#at = pattern.lastIndex;
    return match;
  }

  #unescape(text: string): string {
    const plain = text.replaceAll("''", "'");
    if (!this.#hasEscapes) return plain;
    return text.replace(/\\(.)|''/gs, (_all, letter: string | undefined) =>
      letter === undefined ? "'" : (ESCAPES[letter] ?? letter),
    );
  }
}

/** Returns the table name without its database: `url` for `yourls.url`. */
function tableOf(name: string): string {
  return name.split('.').at(-1) ?? '';
}
