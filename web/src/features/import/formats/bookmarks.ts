/** Reads bookmarks of browsers and services (Netscape format), whose tags are not closed. */
import { Parser } from 'htmlparser2';
import type { Reader, Source } from '../parsed';
import type { Found, RowWriter } from '../rows';

/** URLs that work only inside the browser. */
const NO_LINK = /^(?:javascript|place):/i;
/** Attributes of the folders that exist in every browser. */
const ROOT_FOLDERS = ['personal_toolbar_folder', 'unfiled_bookmarks_folder'];

export class BookmarksReader implements Reader {
  readonly #parser: Parser;
  /** Names of the folders that contain the current bookmark; '' for a root folder. */
  readonly #folders: string[] = [];
  #place = 0;
  #heading: { name: string; isRoot: boolean } | null = null;
  #link: Found | null = null;
  #text: string | null = null;
  #lastFolder = '';

  constructor(private readonly writer: RowWriter) {
    this.#parser = new Parser({
      onopentag: (name, attributes) => this.#open(name, attributes),
      onclosetag: (name) => this.#close(name),
      ontext: (text) => {
        if (this.#text !== null) this.#text += text;
      },
    });
  }

  write(text: string): void {
    this.#parser.write(text);
  }

  end(): void {
    this.#parser.end();
    this.#finish();
  }

  source(): Source {
    return 'bookmarks';
  }

  #open(name: string, attributes: Record<string, string>): void {
    if (name === 'a' || name === 'h3' || name === 'dt' || name === 'dl') this.#finish();
    if (name === 'h3') {
      this.#heading = { name: '', isRoot: ROOT_FOLDERS.some((root) => root in attributes) };
      this.#text = '';
    } else if (name === 'dl') {
      this.#folders.push(this.#lastFolder);
      this.#lastFolder = '';
    } else if (name === 'a' && attributes['href'] !== undefined) {
      this.#place += 1;
      this.#text = '';
      this.#link = {
        codes: [],
        destination: attributes['href'],
        tags: [...(attributes['tags'] ?? '').split(','), ...this.#folders],
        created: attributes['add_date'],
      };
    } else if (name === 'dd') {
      this.writer.problem('descriptions-dropped');
    }
  }

  #close(name: string): void {
    if (name === 'a' || name === 'h3') this.#finish();
    else if (name === 'dl') this.#folders.pop();
  }

  /** Ends the open bookmark or folder heading. */
  #finish(): void {
    const text = (this.#text ?? '').replace(/\s+/g, ' ').trim();
    if (this.#heading) this.#lastFolder = this.#heading.isRoot ? '' : text;
    else if (this.#link && NO_LINK.test(this.#link.destination.trim())) {
      this.writer.problem('bookmarks-skipped');
    } else if (this.#link) this.writer.add(this.#place, { ...this.#link, title: text });
    this.#heading = null;
    this.#link = null;
    this.#text = null;
  }
}
