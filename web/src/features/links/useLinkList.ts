import { useEffect, useEffectEvent, useMemo } from 'react';
import {
  useInfiniteQuery,
  type InfiniteData,
  type UseInfiniteQueryResult,
} from '@tanstack/react-query';
import { failureCode, failureReason, type Link, type LinkPage, type LinkQuery } from '../../api';
import { cache } from '../../api/cache';
import type { Owner } from '../../lib/owner';
import { belongs, moved, useMoves } from './moves';
import { dropRemovedRows, listOf } from './queries';

interface LoadedList {
  state: 'loaded';
  links: Link[];
  total: number;
  /** Whether the links are those of the previous query, while the current one loads. */
  isOld: boolean;
  /** State of the next page. */
  rest: 'none' | 'available' | 'loading' | 'failed';
}

export type ListState =
  | { state: 'loading' }
  | LoadedList
  /** A retry keeps showing the failure until the server responds. */
  | { state: 'failed'; again: boolean }
  /** For the server, the caller is not logged in. */
  | { state: 'not-logged' };

interface LinkListState {
  list: ListState;
  reload: () => void;
  loadMore: () => void;
}

/** Returns the links of a query: cached ones at once, and refetched ones if they are stale. */
export function useLinkList(owner: Owner, listQuery: LinkQuery): LinkListState {
  const { text, state, order } = listQuery;
  const query = useInfiniteQuery(
    {
      ...listOf(owner, listQuery),
      // Keep the previous links until the response arrives, if it can contain them.
      placeholderData: (known, before) =>
        before?.queryKey[3] === (state ?? '') ? known : undefined,
    },
    cache,
  );
  useEffect(
    () => () => dropRemovedRows(owner, { text, state, order }),
    [owner, text, state, order],
  );

  // A cursor does not stay valid forever. The list is then read from the start.
  const goneStale = query.isFetchNextPageError && failureReason(query.error) === 'INVALID_CURSOR';
  const startOver = useEffectEvent(() => void query.refetch());
  useEffect(() => {
    if (goneStale) startOver();
  }, [goneStale]);

  const moves = useMoves(owner);
  const shown = useMemo(() => {
    const links = new Map<string, Link>();
    let total = query.data?.pages.at(-1)?.total ?? 0;
    for (const known of query.data?.pages.flatMap((page) => page.links) ?? []) {
      if (links.has(known.code)) continue;
      const link = moved(known, moves);
      links.set(known.code, link);
      total += Number(belongs(link, state)) - Number(belongs(known, state));
    }
    return { links: [...links.values()], total };
  }, [query.data, moves, state]);

  return {
    list: stateOf(query, shown),
    reload: () => void query.refetch(),
    loadMore: () => {
      if (query.hasNextPage && !query.isFetching) void query.fetchNextPage();
    },
  };
}

type Query = UseInfiniteQueryResult<InfiniteData<LinkPage>>;

function stateOf(query: Query, shown: { links: Link[]; total: number }): ListState {
  // Ignore failures from before this page was opened: it makes its own request.
  const code = query.isFetchedAfterMount && query.isError ? failureCode(query.error) : null;
  if (code === 'no-logged') return { state: 'not-logged' };
  if (query.data) {
    return {
      state: 'loaded',
      ...shown,
      isOld: query.isPlaceholderData,
      rest: restOf(query),
    };
  }
  // The session of a refused token is about to end.
  if (!query.isFetchedAfterMount || code === 'invalid-token') return { state: 'loading' };
  return { state: 'failed', again: query.isFetching };
}

function restOf(query: Query): LoadedList['rest'] {
  if (!query.hasNextPage) return 'none';
  if (query.isFetchingNextPage) return 'loading';
  return query.isFetchNextPageError ? 'failed' : 'available';
}
