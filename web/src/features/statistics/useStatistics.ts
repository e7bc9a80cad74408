import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { failureCode, failureReason, type Span, type Statistics } from '../../api';
import { cache } from '../../api/cache';
import { toLocalField } from '../../lib/format';
import { usePageActive } from '../../lib/looked';
import type { Owner } from '../../lib/owner';
import { statisticsOf } from './queries';
import { isRecent } from './spans';
import { datesBefore } from './steps';

/** Milliseconds between two requests while the page has the user's attention. */
const REFETCH_INTERVAL = 2_500;
/** The same after a failure. */
const RETRY_INTERVAL = 30_000;
/** Milliseconds for which data of a past period is fresh. Late visits may still be counted. */
const PAST_FRESH_FOR = 5 * 60_000;

export type StatisticsState =
  | { state: 'loading' }
  /** The link is not this owner's, its statistics are not public, or it does not exist. */
  | { state: 'no-exist' }
  | { state: 'failed'; tooMany: boolean; again: boolean; reload: () => void }
  | {
      state: 'loaded';
      /** Period of the statistics. */
      span: Span;
      statistics: Statistics;
      /** Statistics of the previous period; undefined if there is none, or until they load. */
      before: Statistics | undefined;
      /** Whether these statistics are of another period, while the requested ones load. */
      isOld: boolean;
      /** Whether the last request failed. */
      isLate: boolean;
    };

/**
 * Returns statistics of a link or of all links, and updates them while the page has the user's
 * attention.
 */
export function useStatistics(owner: Owner, code: string | null, span: Span): StatisticsState {
  const isActive = usePageActive();
  const isOver = !isRecent(span) && span.to < toLocalField(new Date()).slice(0, 10);
  const query = useQuery(
    {
      ...statisticsOf(owner, code, span),
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }: { state: { status: string } }) =>
        isActive && !isOver && (state.status === 'error' ? RETRY_INTERVAL : REFETCH_INTERVAL),
    },
    cache,
  );
  const known = query.isPlaceholderData ? undefined : query.data;
  const dates = known ? datesBefore(known.statistics, span) : null;
  const before = useQuery(
    {
      ...statisticsOf(owner, code, dates ?? span),
      enabled: dates !== null,
      staleTime: PAST_FRESH_FOR,
      refetchOnWindowFocus: false,
    },
    cache,
  );

  const problem = query.isError ? failureCode(query.error) : null;
  if (problem === 'no-exist' || problem === 'no-logged') return { state: 'no-exist' };
  if (query.data) {
    return {
      state: 'loaded',
      ...query.data,
      before: dates === null ? undefined : before.data?.statistics,
      isOld: query.isPlaceholderData,
      isLate: query.isError,
    };
  }
  // The session of a refused token is about to end.
  if (problem === null || problem === 'invalid-token') return { state: 'loading' };
  return {
    state: 'failed',
    tooMany: failureReason(query.error) === 'TOO_MANY_LINKS',
    again: query.isFetching,
    reload: () => void query.refetch(),
  };
}
