/**
 * An owner's links in the query cache.
 *
 * A removed link keeps its row in a list, with the button that restores it, until the user leaves
 * the list. Cached data contains no moves that the server has not confirmed yet. They are applied
 * to what is shown (`useMoves`).
 */
import { infiniteQueryOptions, queryOptions, type InfiniteData } from '@tanstack/react-query';
import {
  showLink,
  showLinks,
  type FormerAddress,
  type Link,
  type LinkPage,
  type LinkQuery,
} from '../../api';
import { cache, FRESH_FOR, KEPT_FOR } from '../../api/cache';
import { keys, queryOf, type Key } from '../../api/keys';
import { showToast } from '../../components/toast';
import type { Owner } from '../../lib/owner';
import { messages } from './messages';
import { belongs, isMoving, moved, pendingMoves } from './moves';

type Cursor = string | null;
type List = InfiniteData<LinkPage, Cursor>;

export interface LinkWithHistory {
  link: Link;
  /** Latest first; undefined until the server responds. */
  history: FormerAddress[] | undefined;
}

export function listOf(owner: Owner, query: LinkQuery) {
  const queryKey = keys.list(owner, query);
  return infiniteQueryOptions({
    queryKey,
    queryFn: async ({ pageParam, signal }) =>
      withRemovedRows(
        await showLinks(owner, { ...query, recent: true }, pageParam, { signal }),
        queryKey,
        pageParam,
      ),
    initialPageParam: null as Cursor,
    getNextPageParam: ({ cursor }) => cursor,
    // Each page is one call: a long list is refetched less often.
    staleTime: ({ state }) => FRESH_FOR * (state.data?.pages.length ?? 1),
    // Each pause in typing creates a search query, which is soon unused.
    gcTime: query.text === '' ? Infinity : KEPT_FOR,
    meta: { onFailure: () => showToast(messages.loadFailed) },
  });
}

export function linkOf(owner: Owner, code: string) {
  return queryOptions({
    queryKey: keys.link(owner, code),
    queryFn: ({ signal }): Promise<LinkWithHistory> => showLink(owner, code, { signal }),
    gcTime: KEPT_FOR,
    meta: { onFailure: () => showToast(messages.loadFailed) },
  });
}

/** Returns a link from any cached list, to be shown until the server responds. */
export function knownLink(owner: Owner, code: string): LinkWithHistory | undefined {
  for (const [, list] of listsOf(owner)) {
    const link = linksOf(list).find((one) => one.code === code);
    if (link) return { link, history: undefined };
  }
  return undefined;
}

/** Drops the rows of removed and restored links when the user leaves a list. */
export function dropRemovedRows(owner: Owner, query: LinkQuery): void {
  replacePages(keys.list(owner, query), (page) => {
    const links = page.links.filter((link) => belongs(link, query.state));
    return links.length === page.links.length ? page : { ...page, links };
  });
}

/**
 * Changes links in every cached list, including its total, and in the cached data of single links.
 */
export function updateLinks(
  owner: Owner,
  codes: ReadonlySet<string>,
  change: (link: Link) => Link,
): void {
  for (const [queryKey, list] of listsOf(owner)) {
    const { state } = queryOf(queryKey);
    const changed = new Map<Link, Link>();
    let more = 0;
    for (const link of linksOf(list)) {
      if (!codes.has(link.code)) continue;
      const next = change(link);
      changed.set(link, next);
      more += Number(belongs(next, state)) - Number(belongs(link, state));
    }
    if (changed.size === 0) continue;
    replacePages(queryKey, (page) => ({
      ...page,
      links: page.links.map((link) => changed.get(link) ?? link),
      total: page.total + more,
    }));
  }
  for (const code of codes) {
    replace<LinkWithHistory>(keys.link(owner, code), (known) => ({
      ...known,
      link: change(known.link),
    }));
  }
}

/** Updates a link from a response about it alone, which has no `recent`. */
export function updateLink(owner: Owner, link: Link): void {
  updateLinks(owner, new Set([link.code]), ({ recent }) =>
    recent === undefined ? link : { ...link, recent },
  );
}

/** Adds a new link to the lists in which it comes first. Marks the other lists stale. */
export function addLink(owner: Owner, link: Link): void {
  for (const [queryKey, list] of listsOf(owner)) {
    const { text, state, order } = queryOf(queryKey);
    if (text !== '' || (state !== '' && state !== 'active') || order !== 'newest') {
      void cache.invalidateQueries({ queryKey, refetchType: 'none' });
    } else if (!linksOf(list).some(({ code }) => code === link.code)) {
      const first = list?.pages[0];
      replacePages(queryKey, (page) => ({
        ...page,
        links: page === first ? [link, ...page.links] : page.links,
        total: page.total + 1,
      }));
    }
  }
}

function listsOf(owner: Owner): [Key, List | undefined][] {
  return cache.getQueriesData<List>({ queryKey: keys.lists(owner) });
}

function linksOf(list: List | undefined): Link[] {
  return list?.pages.flatMap(({ links }) => links) ?? [];
}

function replacePages(queryKey: Key, change: (page: LinkPage) => LinkPage): void {
  replace<List>(queryKey, (list) => {
    const pages = list.pages.map(change);
    return pages.every((page, index) => page === list.pages[index]) ? list : { ...list, pages };
  });
}

/** Changes cached data without changing its age or staleness. */
function replace<T>(queryKey: Key, change: (data: T) => T): void {
  const state = cache.getQueryState<T>(queryKey);
  if (state?.data === undefined) return;
  const data = change(state.data);
  if (data === state.data) return;
  cache.setQueryData(queryKey, data, { updatedAt: state.dataUpdatedAt });
  if (state.isInvalidated) void cache.invalidateQueries({ queryKey, refetchType: 'none' });
}

/**
 * Returns a page of a response with the rows of removed links of the list that it replaces, each
 * after the row that it followed. A link with an unconfirmed move also keeps its row, whether the
 * response contains it or not.
 */
function withRemovedRows(page: LinkPage, queryKey: Key, cursor: Cursor): LinkPage {
  const { state } = queryOf(queryKey);
  const moves = pendingMoves(queryKey[0]);
  const known = linksOf(cache.getQueryData<List>(queryKey));
  const links = [...page.links];
  const codes = new Set(links.map(({ code }) => code));
  known.forEach((link, index) => {
    if (codes.has(link.code) || (belongs(link, state) && !isMoving(link, moves))) return;
    const previous = known[index - 1];
    const at = previous ? links.findIndex(({ code }) => code === previous.code) : -1;
    if (at === -1 && (previous || cursor !== null)) return;
    // The total of the response does not include it.
    links.splice(at + 1, 0, belongs(link, state) ? moved(link, moves) : link);
    codes.add(link.code);
  });
  return { ...page, links };
}
