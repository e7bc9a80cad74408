/** Daily visitors, which are not known of every day. */
import type { Statistics } from '../../api';

/** Those of a span; null where none of them were counted. */
export function visitorsOf({ totals, counted_from: countedFrom }: Statistics): number | null {
  return countedFrom !== undefined && totals.visitors === 0 ? null : totals.visitors;
}

/**
 * Those of the span before, of which `before` tells; null where there is none or, as what was not
 * counted whole is nothing to compare with, some of them were not counted.
 */
export function visitorsBefore(
  { previous }: Statistics,
  before: Statistics | undefined,
): number | null {
  const isKnown = before !== undefined && before.counted_from === undefined;
  return isKnown && previous !== null ? previous.visitors : null;
}
