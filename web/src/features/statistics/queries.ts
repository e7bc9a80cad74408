/**
 * Statistics in the cache: those of a link, or of all links, under [owner, 'statistics', code, span,
 * time zone], and the line in a row of the list with 'line' in the place of the span.
 */
import { queryOptions } from '@tanstack/react-query';
import { failureReason, showStatistics, type Span, type Statistics } from '../../api';
import { KEPT_FOR } from '../../api/cache';
import { viewerZone } from '../../lib/calendar';
import type { Owner } from '../../lib/owner';
import { inTurn } from './inTurn';
import { spanKey, USUAL } from './spans';

type Key = readonly [Owner, ...string[]];

const MINUTE = 60_000;

export interface Answer {
  /** What was asked for. */
  span: Span;
  statistics: Statistics;
}

/** Statistics of a link; with null, of all links of the owner together. */
export function statisticsOf(owner: Owner, code: string | null, span: Span) {
  return queryOptions({
    queryKey: [owner, 'statistics', code ?? '', spanKey(span), viewerZone()] as Key,
    queryFn: async ({ signal }): Promise<Answer> => ({
      span,
      statistics: await ask(owner, code, span, signal),
    }),
    gcTime: KEPT_FOR,
  });
}

/** The people of the last 30 days, day by day, of a link among many. */
export function lineOf(owner: Owner, code: string) {
  return queryOptions({
    queryKey: [owner, 'statistics', code, 'line', viewerZone()] as Key,
    queryFn: ({ signal }) =>
      inTurn(signal, async () => {
        const { series } = await ask(owner, code, USUAL, signal);
        return series.map(({ people }) => people);
      }),
    staleTime: MINUTE,
    gcTime: KEPT_FOR,
    refetchOnWindowFocus: false,
  });
}

/** In the viewer's time zone, or in UTC where the server does not know that one. */
async function ask(
  owner: Owner,
  code: string | null,
  span: Span,
  signal: AbortSignal,
): Promise<Statistics> {
  try {
    return await showStatistics(owner, { code, span, timezone: viewerZone() }, { signal });
  } catch (error) {
    if (failureReason(error) !== 'INVALID_TIMEZONE') throw error;
    return showStatistics(owner, { code, span, timezone: 'UTC' }, { signal });
  }
}
