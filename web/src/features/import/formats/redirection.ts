/** Reads the XML variant of YOURLS' Import-Export plugin: `<item>` with `<source>` and `<action>`. */
import { Parser } from 'htmlparser2';
import type { Reader, Source } from '../parsed';
import type { RowWriter } from '../rows';
import { trimSlashes } from '../shortUrls';

export class RedirectionReader implements Reader {
  readonly #parser: Parser;
  #place = 0;
  #texts: Record<string, string> = {};
  #current = '';

  constructor(private readonly writer: RowWriter) {
    this.#parser = new Parser(
      {
        onopentag: (name) => {
          this.#current = name;
          if (name === 'item') this.#texts = {};
        },
        ontext: (text) => {
          this.#texts[this.#current] = (this.#texts[this.#current] ?? '') + text;
        },
        onclosetag: (name) => {
          this.#current = '';
          if (name === 'item') this.#add();
        },
      },
      { xmlMode: true },
    );
  }

  write(text: string): void {
    this.#parser.write(text);
  }

  end(): void {
    this.#parser.end();
  }

  source(): Source {
    return 'yourls';
  }

  #add(): void {
    this.#place += 1;
    const { source = '', action = '', target = '' } = this.#texts;
    const destination = target.trim() || action.trim();
    this.writer.add(this.#place, { codes: [trimSlashes(source)], destination });
  }
}
