/** A wait that the server asked for, and that is long enough to be told of. */
export interface Wait {
  /** Epoch milliseconds at which it is tried again; null once it is being tried. */
  until: number | null;
  /** How long it is as it begins, said once. */
  words: string;
}

/** Milliseconds from which on a person wants to know. */
export const LONG_WAIT = 3_000;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const format = new Intl.RelativeTimeFormat('en');

/** The milliseconds in words, never fewer than there are: 'Trying again in 42 seconds'. */
export function tryingAgain(duration: number): string {
  return `Trying again ${inWords(Math.max(duration, 1))}`;
}

function inWords(duration: number): string {
  if (duration > 90 * MINUTE) return format.format(Math.ceil(duration / HOUR), 'hour');
  if (duration > 90_000) return format.format(Math.ceil(duration / MINUTE), 'minute');
  return format.format(Math.ceil(duration / 1_000), 'second');
}
