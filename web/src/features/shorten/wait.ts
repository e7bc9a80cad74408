/** A wait that the server asked for and that is long enough to be shown. */
export interface Wait {
  /** Time of the next attempt in epoch milliseconds; null during the attempt. */
  until: number | null;
  /** Its duration at its beginning in words, announced once. */
  words: string;
}

/** Minimum milliseconds of a wait that is shown. */
export const LONG_WAIT = 3_000;
