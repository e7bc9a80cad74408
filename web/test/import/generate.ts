/** Pseudo-random values for property tests, the same in every run. */

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** An integer from 0 up to, but excluding, the limit (mulberry32). */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  pick<T>(options: readonly T[]): T {
    return options[this.below(options.length)] as T;
  }

  /** A text of `length` parts. */
  text(parts: readonly string[], length: number): string {
    return Array.from({ length }, () => this.pick(parts)).join('');
  }
}
