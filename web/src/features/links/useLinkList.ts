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
  /** These are of the query before; what was asked for is on its way. */
  isOld: boolean;
  /** What comes after the last of them. */
  rest: 'none' | 'there' | 'loading' | 'failed';
}

export type ListState =
  | { state: 'loading' }
  | LoadedList
  /** What is asked once more shows the failure until there is an answer. */
  | { state: 'failed'; again: boolean }
  /** The server takes the caller for nobody. */
  | { state: 'not-logged' };

interface LinkListState {
  list: ListState;
  reload: () => void;
  loadMore: () => void;
}

/** The links that are asked for: those that are known at once, and anew when no longer fresh. */
export function useLinkList(owner: Owner, wanted: LinkQuery): LinkListState {
  const { text, state, order } = wanted;
  const query = useInfiniteQuery(
    {
      ...listOf(owner, wanted),
      // What stands there stays until the answer comes, where it may be in that, too.
      placeholderData: (known, before) =>
        before?.queryKey[3] === (state ?? '') ? known : undefined,
    },
    cache,
  );
  useEffect(
    () => () => dropRemovedRows(owner, { text, state, order }),
    [owner, text, state, order],
  );

  // A place in the list does not stay known for ever: then it is gone through from the start.
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
  // What failed before this page was opened says nothing: it asks for itself.
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
  // The session of a token that was refused is about to end.
  if (!query.isFetchedAfterMount || code === 'invalid-token') return { state: 'loading' };
  return { state: 'failed', again: query.isFetching };
}

function restOf(query: Query): LoadedList['rest'] {
  if (!query.hasNextPage) return 'none';
  if (query.isFetchingNextPage) return 'loading';
  return query.isFetchNextPageError ? 'failed' : 'there';
}
