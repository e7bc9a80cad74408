/** Detects the encoding of a file: a byte-order mark decides, then valid UTF-8, then windows-1252. */

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** Reads all bytes once, in pieces. The result is final after the last piece. */
export class EncodingDetector {
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true });
  #start: number[] = [];
  #isUtf8 = true;

  write(bytes: Uint8Array): void {
    if (this.#start.length < 2) {
      this.#start = [...this.#start, ...bytes.subarray(0, 2 - this.#start.length)];
    }
    this.#decode(bytes, true);
  }

  end(): Encoding {
    this.#decode(new Uint8Array(), false);
    const [first, second] = this.#start;
    if (first === 0xff && second === 0xfe) return 'utf-16le';
    if (first === 0xfe && second === 0xff) return 'utf-16be';
    return this.#isUtf8 ? 'utf-8' : 'windows-1252';
  }

  #decode(bytes: Uint8Array, stream: boolean): void {
    if (!this.#isUtf8) return;
    try {
      this.#utf8.decode(bytes, { stream });
    } catch {
      this.#isUtf8 = false;
    }
  }
}
