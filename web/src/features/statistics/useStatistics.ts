import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { failureCode, failureReason, type Span, type Statistics } from '../../api';
import { cache } from '../../api/cache';
import { toLocalField } from '../../lib/format';
import { useLooked } from '../../lib/looked';
import type { Owner } from '../../lib/owner';
import { statisticsOf } from './queries';
import { isRecent } from './spans';
import { datesBefore } from './steps';

/** Milliseconds from one question to the next while somebody looks. */
const AGAIN = 2_500;
/** The same once it failed. */
const LATER = 30_000;
/** Milliseconds for which what is over stays as it was told: late visits may still come in. */
const OVER = 5 * 60_000;

export type StatisticsState =
  | { state: 'loading' }
  /** It is not this owner's, or not public, or there is none. */
  | { state: 'no-exist' }
  | { state: 'failed'; tooMany: boolean; again: boolean; reload: () => void }
  | {
      state: 'loaded';
      /** What these are of. */
      span: Span;
      statistics: Statistics;
      /** Of the span before; undefined where there is none, or until it has come. */
      before: Statistics | undefined;
      /** These are of another span than the one that was asked for, which is on its way. */
      isOld: boolean;
      /** What was asked for last did not come. */
      isLate: boolean;
    };

/** Statistics of a link or of all, anew all the time while somebody looks at them. */
export function useStatistics(owner: Owner, code: string | null, span: Span): StatisticsState {
  const looked = useLooked();
  const isOver = !isRecent(span) && span.to < toLocalField(new Date()).slice(0, 10);
  const query = useQuery(
    {
      ...statisticsOf(owner, code, span),
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }: { state: { status: string } }) =>
        looked && !isOver && (state.status === 'error' ? LATER : AGAIN),
    },
    cache,
  );
  const known = query.isPlaceholderData ? undefined : query.data;
  const dates = known ? datesBefore(known.statistics, span) : null;
  const before = useQuery(
    {
      ...statisticsOf(owner, code, dates ?? span),
      enabled: dates !== null,
      staleTime: OVER,
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
  // The session of a token that was refused is about to end.
  if (problem === null || problem === 'invalid-token') return { state: 'loading' };
  return {
    state: 'failed',
    tooMany: failureReason(query.error) === 'TOO_MANY_LINKS',
    again: query.isFetching,
    reload: () => void query.refetch(),
  };
}
