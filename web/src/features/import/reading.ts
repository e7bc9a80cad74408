/** Reads one file: takes its bytes piece by piece and emits rows. */
import { binaryProblem, detectKind, SIGNATURE_LENGTH } from './detect';
import type { Encoding } from './encoding';
import { BookmarksReader } from './formats/bookmarks';
import { JsonReader } from './formats/json';
import { RedirectionReader } from './formats/redirection';
import { SqlReader } from './formats/sql';
import { TableReader } from './formats/table';
import type { Questions, Reader, ReadOptions, Row, Summary } from './parsed';
import { RowWriter } from './rows';

export const MAX_BYTES = 50 * 1024 * 1024;

/** Characters from which the kind of a file is detected. */
const HEAD = 1 << 16;

interface AskingReader extends Reader {
  question?: () => Questions['columns'];
}

export class Reading {
  readonly #decoder: TextDecoder;
  readonly #writer: RowWriter;
  /** First bytes, in which a file that is not text has its signature. */
  #start: number[] = [];
  /** Beginning of the text, until the reader is chosen. */
  #head = '';
  #reader: AskingReader | null = null;
  #isRefused = false;
  readonly #isGuessed: boolean;

  constructor(
    encoding: Encoding,
    private readonly options: ReadOptions,
    emit: (row: Row) => void,
  ) {
    this.#decoder = new TextDecoder(encoding);
    this.#isGuessed = encoding === 'windows-1252';
    this.#writer = new RowWriter(options, emit);
  }

  write(bytes: Uint8Array): void {
    if (!this.#isRefused && this.#start.length < SIGNATURE_LENGTH) this.#checkStart(bytes);
    this.#writeText(this.#decoder.decode(bytes, { stream: true }));
  }

  end(): Summary {
    this.#writeText(this.#decoder.decode());
    if (!this.#reader) this.#choose();
    this.#reader?.end();
    const question = this.#reader?.question?.() ?? null;
    const { problems, questions } = this.#writer.end(question?.guess.destination !== null);
    return {
      source: this.#reader?.source() ?? this.options.source ?? 'csv',
      problems,
      questions: { ...questions, columns: question },
    };
  }

  #checkStart(bytes: Uint8Array): void {
    const missing = SIGNATURE_LENGTH - this.#start.length;
    this.#start = [...this.#start, ...bytes.subarray(0, missing)];
    const problem = binaryProblem(this.#start);
    if (!problem) return;
    this.#isRefused = true;
    this.#writer.problem(problem);
  }

  #writeText(text: string): void {
    if (this.#isRefused) return;
    if (this.#reader) {
      this.#reader.write(text);
      return;
    }
    this.#head += text;
    if (this.#head.length >= HEAD) this.#choose();
  }

  /** Chooses the reader by the beginning of the text. */
  #choose(): void {
    const head = this.#head;
    this.#head = '';
    if (this.#isRefused) return;
    if (head.includes('\0')) {
      this.#isRefused = true;
      this.#writer.problem('not-text');
    } else if (head.trim() === '') {
      // A file of only white space can be longer than its head.
      this.#writer.problem('empty');
    } else {
      if (this.#isGuessed) this.#writer.problem('encoding-guessed');
      this.#reader = this.#readerOf(head);
      this.#reader.write(head);
    }
  }

  #readerOf(head: string): AskingReader {
    const writer = this.#writer;
    switch (detectKind(head)) {
      case 'bookmarks':
        return new BookmarksReader(writer);
      case 'json':
        return new JsonReader(this.options, writer);
      case 'sql':
        return new SqlReader(writer);
      case 'table':
        return new TableReader(head, this.options, writer);
      case 'xml':
        return new RedirectionReader(writer);
    }
  }
}

/** The summary of a file that is too large to be read. */
export function summarizeTooLarge(options: ReadOptions): Summary {
  return {
    source: options.source ?? 'csv',
    problems: [{ code: 'too-large', count: 1 }],
    questions: { zone: null, columns: null },
  };
}
