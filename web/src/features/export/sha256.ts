/** Incremental SHA-256 (FIPS 180-4). Browsers only hash complete data. */

const BLOCK = 64;
/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const CONSTANTS = Uint32Array.from(firstPrimes(64), (prime) => fraction(Math.cbrt(prime)));
/** The same of the square roots of the first 8 primes. */
const START = Array.from(firstPrimes(8), (prime) => fraction(Math.sqrt(prime)));

export class Sha256 {
  readonly #state = Uint32Array.from(START);
  readonly #block = new Uint8Array(BLOCK);
  readonly #words = new Uint32Array(BLOCK);
  /** Number of bytes so far. */
  #length = 0;

  update(bytes: Uint8Array): this {
    for (let at = 0; at < bytes.length;) {
      const used = this.#length % BLOCK;
      const piece = bytes.subarray(at, at + BLOCK - used);
      this.#block.set(piece, used);
      this.#length += piece.length;
      at += piece.length;
      if (this.#length % BLOCK === 0) this.#compress();
    }
    return this;
  }

  /** Returns the hash in hexadecimal. Nothing can be added after it. */
  digest(): string {
    const bits = BigInt(this.#length) * 8n;
    const used = (this.#length + 9) % BLOCK;
    const padding = new Uint8Array(9 + (used === 0 ? 0 : BLOCK - used));
    padding[0] = 0x80;
    new DataView(padding.buffer).setBigUint64(padding.length - 8, bits);
    this.update(padding);
    return Array.from(this.#state, (word) => word.toString(16).padStart(8, '0')).join('');
  }

  #compress(): void {
    const words = this.#words;
    const view = new DataView(this.#block.buffer);
    const word = (index: number) => words[index] ?? 0;
    for (let index = 0; index < 16; index += 1) words[index] = view.getUint32(index * 4);
    for (let index = 16; index < 64; index += 1) {
      const [early, late] = [word(index - 15), word(index - 2)];
      const small0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
      const small1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
      words[index] = word(index - 16) + small0 + word(index - 7) + small1;
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = this.#state;
    for (let index = 0; index < 64; index += 1) {
      const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const choice = (e & f) ^ (~e & g);
      const first = (h + big1 + choice + (CONSTANTS[index] ?? 0) + word(index)) | 0;
      const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const majority = (a & b) ^ (a & c) ^ (b & c);
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + big0 + majority) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, index) => {
      this.#state[index] = (this.#state[index] ?? 0) + value;
    });
  }
}

function rotate(word: number, count: number): number {
  return (word >>> count) | (word << (32 - count));
}

function* firstPrimes(count: number): Generator<number> {
  const primes: number[] = [];
  for (let next = 2; primes.length < count; next += 1) {
    if (primes.every((prime) => next % prime !== 0)) {
      primes.push(next);
      yield next;
    }
  }
}

/** Returns the first 32 bits of the fractional part. */
function fraction(value: number): number {
  return Math.floor((value - Math.floor(value)) * 2 ** 32);
}
