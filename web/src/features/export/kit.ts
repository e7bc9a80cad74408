/** Builds the files of 'Download everything' from pages of links. */
import { type ExportedLink, type Redirect, redirectsOf, sorted } from './exported';
import { apacheConf } from './files/apache';
import { dubHead, dubLine } from './files/dub';
import { htmlPage } from './files/html';
import { historyWriters } from './files/links';
import { nginxConf } from './files/nginx';
import { redirectsFile } from './files/redirects';
import { shlinkHead, shlinkLine } from './files/shlink';
import { yourlsHead, yourlsLine } from './files/yourls';
import { apacheComment, nginxComment, readme } from './messages';
import { Sha256 } from './sha256';

export interface KitFile {
  name: string;
  input: Blob;
}

/**
 * Characters after which text becomes a blob. Browsers store blobs outside of the page's memory.
 */
const PIECE = 1 << 20;

const encoder = new TextEncoder();

/** A text file, written from beginning to end. */
class TextFile {
  readonly #hash = new Sha256();
  readonly #parts: Blob[] = [];
  #text = '';

  constructor(readonly name: string) {}

  write(text: string): void {
    this.#text += text;
    if (this.#text.length >= PIECE) this.#flush();
  }

  end(): KitFile & { hash: string } {
    this.#flush();
    return { name: this.name, input: new Blob(this.#parts), hash: this.#hash.digest() };
  }

  #flush(): void {
    const bytes = encoder.encode(this.#text);
    this.#hash.update(bytes);
    this.#parts.push(new Blob([bytes]));
    this.#text = '';
  }
}

export class Kit {
  readonly #csv = new TextFile('links.csv');
  readonly #json = new TextFile('links.json');
  readonly #shlink = new TextFile('shlink.csv');
  readonly #yourls = new TextFile('yourls.csv');
  readonly #dub = new TextFile('dub.csv');
  readonly #redirects: Redirect[] = [];
  readonly #pages: Redirect[] = [];
  #count = 0;

  /** `origin` is the origin of the short URLs. */
  constructor(private readonly origin: string) {
    this.#csv.write(historyWriters.csv.head);
    this.#json.write(historyWriters.json.head);
    this.#shlink.write(shlinkHead);
    this.#yourls.write(yourlsHead);
    this.#dub.write(dubHead);
  }

  add(links: readonly ExportedLink[]): void {
    for (const link of links) {
      this.#csv.write(historyWriters.csv.line(link, this.#count === 0));
      this.#json.write(historyWriters.json.line(link, this.#count === 0));
      this.#count += 1;
      const redirects = redirectsOf(link);
      this.#redirects.push(...redirects);
      if (link.state !== 'active') continue;
      this.#pages.push(...redirects);
      this.#shlink.write(shlinkLine(link));
      this.#yourls.write(yourlsLine(link));
      this.#dub.write(dubLine(link, this.origin));
    }
  }

  /** Yields the files in order, the checksums last. Nothing can be added afterwards. */
  *files(): Generator<KitFile> {
    const sums = new TextFile('SHA256SUMS');
    for (const { hash, ...file } of this.#contents()) {
      sums.write(`${hash}  ${file.name}\n`);
      yield file;
    }
    yield { name: sums.name, input: sums.end().input };
  }

  *#contents(): Generator<KitFile & { hash: string }> {
    const host = new URL(this.origin).hostname;
    const redirects = sorted(this.#redirects);
    this.#json.write(historyWriters.json.foot);
    yield fileOf('README.txt', [readme(host, this.#count, redirects.length)]);
    yield this.#csv.end();
    yield this.#json.end();
    yield fileOf('nginx.conf', nginxConf(redirects, host, nginxComment));
    yield fileOf('apache.conf', apacheConf(redirects, host, apacheComment));
    yield fileOf('_redirects', redirectsFile(redirects));
    yield this.#shlink.end();
    yield this.#yourls.end();
    yield this.#dub.end();
    for (const page of this.#pages) {
      yield fileOf(`html/${page.code}/index.html`, [htmlPage(page)]);
    }
  }

  /** Number of files that `files` yields, for progress. */
  get fileCount(): number {
    return this.#pages.length + 10;
  }
}

function fileOf(name: string, texts: Iterable<string>): KitFile & { hash: string } {
  const file = new TextFile(name);
  for (const text of texts) file.write(text);
  return file.end();
}
