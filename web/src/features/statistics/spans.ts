/** Periods of statistics (spans): their choices, names and URL parameters. */
import { useCallback } from 'react';
import { useSearchParams } from 'react-router-dom';
import type { Dates, RecentSpan, Span } from '../../api';
import { countDays, isDay } from '../../lib/calendar';
import { messages } from './messages';

/** Maximum number of days in a period. */
export const MAX_DAYS = 3_653;

export const recentSpans = Object.entries(messages.periods).map(([value, text]) => ({
  value: value as RecentSpan,
  text,
}));

/** Default period. */
export const DEFAULT_SPAN: RecentSpan = '30 days';

export function isRecent(span: Span): span is RecentSpan {
  return typeof span === 'string';
}

/** Returns a unique text for a period. */
export function spanKey(span: Span): string {
  return isRecent(span) ? span : `${span.from}/${span.to}`;
}

/** Returns the length of a period in words: '30 days', '1 day'. */
export function nameSpan(span: Span): string {
  return isRecent(span) ? messages.periods[span] : messages.days(countDays(span.from, span.to));
}

/** Returns the name of the period before a period: 'previous 30 days'. */
export function namePrevious(span: Span): string {
  const isDay = !isRecent(span) && span.from === span.to;
  return isDay ? messages.previousDay : messages.previous(nameSpan(span));
}

/** Returns an error text for invalid dates, otherwise undefined. */
export function problemOf({ from, to }: Dates): string | undefined {
  if (!isDay(from) || !isDay(to)) return messages.noDates;
  if (from > to) return messages.datesReversed;
  if (countDays(from, to) > MAX_DAYS) return messages.tooManyDays(MAX_DAYS);
  return undefined;
}

/**
 * Returns the selected period and its setter. It is in the URL, so that users who come back find
 * it.
 */
export function useSpan(): [Span, (span: Span) => void] {
  const [params, setParams] = useSearchParams();
  const dates = { from: params.get('from') ?? '', to: params.get('to') ?? '' };
  const recent =
    recentSpans.find(({ value }) => value === params.get('range'))?.value ?? DEFAULT_SPAN;
  const span = problemOf(dates) === undefined ? dates : recent;

  const choose = useCallback(
    (chosen: Span) =>
      setParams(
        (known) => {
          const next = new URLSearchParams(known);
          for (const name of ['range', 'from', 'to']) next.delete(name);
          if (!isRecent(chosen)) {
            next.set('from', chosen.from);
            next.set('to', chosen.to);
          } else if (chosen !== DEFAULT_SPAN) next.set('range', chosen);
          return next;
        },
        { replace: true },
      ),
    [setParams],
  );
  return [span, choose];
}
