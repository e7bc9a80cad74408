/** Spans as people choose them, and as the address of the page says them. */
import { useCallback } from 'react';
import { useSearchParams } from 'react-router-dom';
import type { Dates, RecentSpan, Span } from '../../api';
import { countDays, isDay } from '../../lib/calendar';
import { formatNumber } from '../../lib/format';

/** The most days that can be looked at together. */
export const MOST_DAYS = 3_653;

export const recentSpans = [
  { value: '24 hours', text: '24 hours' },
  { value: '7 days', text: '7 days' },
  { value: '30 days', text: '30 days' },
  { value: '90 days', text: '90 days' },
  { value: '12 months', text: '12 months' },
  { value: 'all', text: 'All' },
] as const satisfies readonly { value: RecentSpan; text: string }[];

/** Where nothing else is chosen. */
export const USUAL: RecentSpan = '30 days';

export function isRecent(span: Span): span is RecentSpan {
  return typeof span === 'string';
}

/** A text for a span, another one for another span. */
export function spanKey(span: Span): string {
  return isRecent(span) ? span : `${span.from}/${span.to}`;
}

/** How long a span is, in words: '30 days'. */
export function nameSpan(span: Span): string {
  if (isRecent(span)) return span;
  const days = countDays(span.from, span.to);
  return days === 1 ? 'day' : `${formatNumber(days)} days`;
}

/** What is wrong with dates, in words; undefined where nothing is. */
export function problemOf({ from, to }: Dates): string | undefined {
  if (!isDay(from) || !isDay(to)) return 'Enter two dates.';
  if (from > to) return 'The first day is after the last one.';
  if (countDays(from, to) > MOST_DAYS) return `At most ${formatNumber(MOST_DAYS)} days.`;
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
