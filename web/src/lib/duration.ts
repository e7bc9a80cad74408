const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const format = new Intl.RelativeTimeFormat('en');

/** Milliseconds from now in words, never fewer than there are: 'in 42 seconds'. */
export function fromNow(duration: number): string {
  if (duration > 90 * MINUTE) return format.format(Math.ceil(duration / HOUR), 'hour');
  if (duration > 90 * SECOND) return format.format(Math.ceil(duration / MINUTE), 'minute');
  return format.format(Math.max(Math.ceil(duration / SECOND), 1), 'second');
}
