/** A wait that the server asked for, and that is long enough to be told of. */
export interface Wait {
  /** Epoch milliseconds at which it is tried again; null once it is being tried. */
  until: number | null;
  /** How long it is as it begins, said once. */
  words: string;
}

/** Milliseconds from which on a person wants to know. */
export const LONG_WAIT = 3_000;
