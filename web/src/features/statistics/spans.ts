/** Spans as people choose them, and as the address of the page says them. */
import { useCallback } from 'react';
import { useSearchParams } from 'react-router-dom';
import type { Dates, RecentSpan, Span } from '../../api';
import { countDays, isDay } from '../../lib/calendar';
import { messages } from './messages';

/** The most days that can be looked at together. */
export const MOST_DAYS = 3_653;

export const recentSpans = Object.entries(messages.periods).map(([value, text]) => ({
  value: value as RecentSpan,
  text,
}));

/** Where nothing else is chosen. */
export const USUAL: RecentSpan = '30 days';

export function isRecent(span: Span): span is RecentSpan {
  return typeof span === 'string';
}

/** A text for a span, another one for another span. */
export function spanKey(span: Span): string {
  return isRecent(span) ? span : `${span.from}/${span.to}`;
}

/** The length of a span in words: '30 days', '1 day'. */
export function nameSpan(span: Span): string {
  return isRecent(span) ? messages.periods[span] : messages.days(countDays(span.from, span.to));
}

/** The name of the period before a span: 'previous 30 days'. */
export function namePrevious(span: Span): string {
  const isDay = !isRecent(span) && span.from === span.to;
  return isDay ? messages.previousDay : messages.previous(nameSpan(span));
}

/** What is wrong with dates, in words; undefined where nothing is. */
export function problemOf({ from, to }: Dates): string | undefined {
  if (!isDay(from) || !isDay(to)) return messages.noDates;
  if (from > to) return messages.datesReversed;
  if (countDays(from, to) > MOST_DAYS) return messages.tooManyDays(MOST_DAYS);
  return undefined;
}

/** The span that is looked at, and how to look at another: who comes back finds it so. */
export function useSpan(): [Span, (span: Span) => void] {
  const [params, setParams] = useSearchParams();
  const dates = { from: params.get('from') ?? '', to: params.get('to') ?? '' };
  const recent = recentSpans.find(({ value }) => value === params.get('range'))?.value ?? USUAL;
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
          } else if (chosen !== USUAL) next.set('range', chosen);
          return next;
        },
        { replace: true },
      ),
    [setParams],
  );
  return [span, choose];
}
