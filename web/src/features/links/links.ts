/**
 * An owner's links in the cache: how they are asked for, and what a change makes of them.
 *
 * A list is kept under [owner, 'links', text, state, order], a link by itself under [owner, 'link',
 * code]. What is changed here is changed in all of them at once, and back where the server refuses.
 * A link that was removed keeps its place in a list, for the line that undoes it, until the list is
 * left.
 */
import { infiniteQueryOptions, queryOptions, type InfiniteData } from '@tanstack/react-query';
import {
  changeLink,
  failureCode,
  removeLinks,
  restoreLinks,
  showLink,
  showLinks,
  whenLinkMade,
  type FormerAddress,
  type Link,
  type LinkChanges,
  type LinkPage,
  type LinkQuery,
} from '../../api';
import { cache, FRESH_FOR, KEPT_FOR } from '../../api/cache';
import { showToast } from '../../components/toast';
import { endSessionOf, type Owner } from '../../lib/owner';
import { loadError, notRemoved, notRestored } from './messages';

type Cursor = string | null;
type List = InfiniteData<LinkPage, Cursor>;
type Key = readonly [Owner, ...string[]];

/** The most codes that one call can name. */
const MOST_CODES = 100;

export interface LinkWithHistory {
  link: Link;
  /** The last address first; undefined until the server was asked for it. */
  history: FormerAddress[] | undefined;
}

export function listOf(owner: Owner, query: LinkQuery) {
  const queryKey: Key = [owner, 'links', query.text, query.state ?? '', query.order];
  return infiniteQueryOptions({
    queryKey,
    queryFn: async ({ pageParam, signal }) =>
      withLines(
        await showLinks(owner, { ...query, recent: true }, pageParam, { signal }),
        queryKey,
        pageParam,
      ),
    initialPageParam: null as Cursor,
    getNextPageParam: ({ cursor }) => cursor,
    // Each page is asked for by itself: a list of many is asked for anew less often.
    staleTime: ({ state }) => FRESH_FOR * (state.data?.pages.length ?? 1),
    // There is one for each pause in typing.
    gcTime: query.text === '' ? Infinity : KEPT_FOR,
    meta: { onFailure: () => showToast(loadError) },
  });
}

export function linkOf(owner: Owner, code: string) {
  return queryOptions({
    queryKey: [owner, 'link', code] as Key,
    queryFn: async ({ signal }): Promise<LinkWithHistory> => {
      const { link, history } = await showLink(owner, code, { signal });
      return { link: asItWillBe(link), history };
    },
    gcTime: KEPT_FOR,
    meta: { onFailure: () => showToast(loadError) },
  });
}

/** A link as some list knows it, for the time until the server is asked. */
export function knownLink(owner: Owner, code: string): LinkWithHistory | undefined {
  for (const [, list] of listsOf(owner)) {
    const link = list?.pages.flatMap(({ links }) => links).find((one) => one.code === code);
    if (link) return { link, history: undefined };
  }
  return undefined;
}

/** Whether a link has its place in a list of this state; if not, a line stands there in its stead. */
export function belongs(link: Link, state: string | null): boolean {
  return state === 'removed' ? link.state === 'removed' : link.state !== 'removed';
}

/** What a link is now: one that was active ends when its time is over, whoever remembers it. */
export function current(link: Link): Link {
  const isOver = link.expires_at !== null && Date.parse(link.expires_at) <= Date.now();
  return link.state === 'active' && isOver ? { ...link, state: 'expired' } : link;
}

/** Removes links, at most 100 a call; answers the codes of those that are removed. */
export function remove(owner: Owner, links: readonly Link[]): Promise<string[]> {
  return move(owner, links, removeLinks, (link) => ({ ...link, state: 'removed' }), notRemoved);
}

/** Takes the removal of links back; answers the codes of those that are restored. */
export function restore(owner: Owner, links: readonly Link[]): Promise<string[]> {
  const restored = (link: Link) =>
    current({ ...link, state: link.reason === null ? 'active' : 'blocked' });
  return move(owner, links, restoreLinks, restored, notRestored);
}

/** Changes a link. Rejects where the server refuses, and then nothing is changed here either. */
export async function change(owner: Owner, code: string, changes: LinkChanges): Promise<Link> {
  return inTurn([code], async () => {
    try {
      const link = await changeLink(owner, code, changes);
      await quietly(owner, () => update(owner, new Set([code]), withRecentOf(link)));
      // Where it led before is for the server to say; what lists of some links are to have, too.
      const { queryKey } = linkOf(owner, code);
      if (changes.url !== undefined) void cache.invalidateQueries({ queryKey });
      void cache.invalidateQueries({
        queryKey: [owner, 'links'],
        refetchType: 'none',
        predicate: (query) => query.queryKey[2] !== '' || query.queryKey[3] !== '',
      });
      return link;
    } catch (error) {
      if (failureCode(error) === 'invalid-token') endSessionOf(owner);
      throw error;
    }
  });
}

/** Drops the lines of what was removed or restored from the list of a query: it was left. */
export function dropLines(owner: Owner, query: LinkQuery): void {
  const { queryKey } = listOf(owner, query);
  replace(queryKey, (page) => {
    const links = page.links.filter((link) => belongs(link, query.state));
    return links.length === page.links.length ? page : { ...page, links };
  });
}

/** A link that was made stands in its owner's list at once; then the server is asked for it. */
whenLinkMade(({ code, url }, owner) => {
  const made: Link = {
    code,
    long_link: url,
    title: '',
    tags: [],
    state: 'active',
    reason: null,
    created_at: new Date().toISOString(),
    changed_at: null,
    expires_at: null,
    ended_url: null,
    public_statistics: false,
    views: 0,
    bots: 0,
    recent: [],
  };
  void quietly(owner, () => {
    for (const [queryKey] of listsOf(owner)) {
      const [, , text, state, order] = queryKey;
      const isFirst = text === '' && (state === '' || state === 'active') && order === 'newest';
      if (isFirst) prepend(queryKey, made);
      else void cache.invalidateQueries({ queryKey, refetchType: 'none' });
    }
  }).then(() => complete(owner, code));
});

/** What the server made of an address that a list shows as it was typed. */
async function complete(owner: Owner, code: string): Promise<void> {
  if (!knownLink(owner, code)) return;
  try {
    // By the cache, so that what is made of the link meanwhile drops the question.
    const { link } = await cache.query({
      ...linkOf(owner, code),
      meta: { onFailure: () => undefined },
    });
    update(owner, new Set([code]), withRecentOf(link));
  } catch {
    // The cache knows what failed, and the list itself is asked for again before long.
  }
}

/** The lists of an owner that something is known of, with their keys. */
function listsOf(owner: Owner): [Key, List | undefined][] {
  return cache.getQueriesData<List>({ queryKey: [owner, 'links'] });
}

function prepend(queryKey: Key, link: Link): void {
  const known = cache
    .getQueryData<List>(queryKey)
    ?.pages.some(({ links }) => links.some(({ code }) => code === link.code));
  if (known !== false) return;
  let first = true;
  replace(queryKey, (page) => {
    const links = first ? [link, ...page.links] : page.links;
    first = false;
    return { ...page, links, total: page.total + 1 };
  });
}

/** Changes the pages of a list, which is no fresher for it. */
function replace(queryKey: Key, change: (page: LinkPage) => LinkPage): void {
  const state = cache.getQueryState<List>(queryKey);
  if (!state?.data) return;
  const pages = state.data.pages.map(change);
  if (pages.every((page, index) => page === state.data?.pages[index])) return;
  cache.setQueryData<List>(queryKey, { ...state.data, pages }, { updatedAt: state.dataUpdatedAt });
  if (state.isInvalidated) void cache.invalidateQueries({ queryKey, refetchType: 'none' });
}

/** Changes links wherever they are known, and how many there are with them. */
function update(owner: Owner, codes: ReadonlySet<string>, change: (link: Link) => Link): void {
  for (const [queryKey, list] of listsOf(owner)) {
    const state = queryKey[3] ?? '';
    const changed = new Map<Link, Link>();
    let more = 0;
    for (const link of list?.pages.flatMap(({ links }) => links) ?? []) {
      if (!codes.has(link.code)) continue;
      const next = change(link);
      changed.set(link, next);
      more += Number(belongs(next, state)) - Number(belongs(link, state));
    }
    if (changed.size === 0) continue;
    replace(queryKey, (page) => ({
      ...page,
      links: page.links.map((link) => changed.get(link) ?? link),
      total: page.total + more,
    }));
  }
  for (const code of codes) {
    cache.setQueryData(
      linkOf(owner, code).queryKey,
      (known) => known && { ...known, link: change(known.link) },
    );
  }
}

/**
 * Changes something that an answer may not know of which was asked for before the end. So what is on
 * its way is dropped, at the start and at the end; and where there was any, or a list came meanwhile,
 * all is asked for again.
 */
async function quietly(owner: Owner, work: () => void | Promise<void>): Promise<void> {
  const asked = { queryKey: [owner] as Key, predicate: isOfLinks };
  const isAsked = () => cache.isFetching(asked) > 0;
  const wasAsked = isAsked();
  if (wasAsked) await cache.cancelQueries(asked);
  const before = pagesCome;
  try {
    await work();
  } finally {
    if (wasAsked || isAsked() || pagesCome !== before) {
      await cache.cancelQueries(asked);
      void cache.invalidateQueries(asked);
    }
  }
}

/** How many pages of lists have come. */
let pagesCome = 0;

/** Whether a change of a link may change what is asked for: its visits and its scan code stay. */
function isOfLinks({ queryKey: [, kind] }: { queryKey: Key }): boolean {
  return kind !== 'statistics' && kind !== 'scan code';
}

/**
 * What is being made of links at the server: the last for each, known by its function, of which each
 * has its own.
 */
const underWay = new Map<string, (link: Link) => Link>();

/** Replaces a known link with that of an answer about it alone, which has no `recent`. */
function withRecentOf(link: Link): (known: Link) => Link {
  return ({ recent }) => asItWillBe(recent === undefined ? link : { ...link, recent });
}

/** A link of an answer, which may not know yet of what is under way. */
function asItWillBe(link: Link): Link {
  return underWay.get(link.code)?.(link) ?? link;
}

/** Ends once the page is left, which a browser may show again as it was. */
let left = whenLeft();
addEventListener('pageshow', () => {
  left = whenLeft();
});

function whenLeft(): Promise<unknown> {
  return new Promise((resolve) => addEventListener('pagehide', resolve, { once: true }));
}

/**
 * Changes of one link follow each other, so that the last one wins here and at the server. Who leaves
 * the page waits for none: what is not sent then is never sent.
 */
const turns = new Map<string, Promise<unknown>>();

async function inTurn<T>(codes: readonly string[], work: () => Promise<T>): Promise<T> {
  const before = codes.flatMap((code) => turns.get(code) ?? []);
  const mine = Promise.race([Promise.allSettled(before), left]).then(work);
  const done = mine.catch(() => undefined);
  for (const code of codes) turns.set(code, done);
  try {
    return await mine;
  } finally {
    for (const code of codes) if (turns.get(code) === done) turns.delete(code);
  }
}

async function move(
  owner: Owner,
  links: readonly Link[],
  call: (owner: Owner, codes: string[]) => Promise<void>,
  change: (link: Link) => Link,
  failed: (count: number) => string,
): Promise<string[]> {
  const before = new Map(links.map((link) => [link.code, link]));
  const codes = [...before.keys()];
  const moved: string[] = [];
  let problem: Error | undefined;
  /** Ends this for some of them; answers those of which nothing else is being made by now. */
  const settle = (some: string[]) => {
    const mine = some.filter((code) => underWay.get(code) === change);
    for (const code of mine) underWay.delete(code);
    return new Set(mine);
  };
  await quietly(owner, async () => {
    for (const code of codes) underWay.set(code, change);
    update(owner, new Set(codes), change);
    for (let at = 0; at < codes.length; at += MOST_CODES) {
      const some = codes.slice(at, at + MOST_CODES);
      try {
        // After one that failed the rest is left as it is.
        if (problem) throw problem;
        await inTurn(some, () => call(owner, some));
        moved.push(...some);
      } catch (error) {
        problem = error instanceof Error ? error : new Error(String(error));
        update(owner, settle(some), (link) => ({
          ...link,
          state: before.get(link.code)?.state ?? link.state,
        }));
      }
    }
  });
  // Only now no answer can come any more that was asked for before.
  settle(moved);
  // The lists that have them now, or have them no more, are asked for when they are looked at.
  void cache.invalidateQueries({
    queryKey: [owner, 'links'],
    refetchType: 'none',
    predicate: (query) => !query.isActive(),
  });
  if (problem !== undefined) tell(problem, owner, failed(codes.length - moved.length));
  return moved;
}

function tell(problem: unknown, owner: Owner, words: string): void {
  const code = failureCode(problem);
  if (code === 'invalid-token') endSessionOf(owner);
  else {
    console.error(problem);
    showToast(words);
  }
  // Somebody else may have changed them meanwhile.
  if (code === 'no-exist') void cache.invalidateQueries({ queryKey: [owner] });
}

/** A page of an answer with the lines of the list that it takes the place of. */
function withLines(answer: LinkPage, queryKey: Key, cursor: Cursor): LinkPage {
  pagesCome += 1;
  const state = queryKey[3] ?? '';
  const page = { ...answer, links: answer.links.map(asItWillBe) };
  const known = cache.getQueryData<List>(queryKey)?.pages.flatMap(({ links }) => links) ?? [];
  // What is being restored is in no answer from before.
  const stays = (link: Link) => !belongs(link, state) || underWay.has(link.code);
  if (!known.some(stays)) return page;
  const links = [...page.links];
  const there = new Set(links.map(({ code }) => code));
  known.forEach((link, index) => {
    if (!stays(link) || there.has(link.code)) return;
    const previous = known[index - 1];
    const at = previous ? links.findIndex(({ code }) => code === previous.code) : -1;
    if (at === -1 && (previous || cursor !== null)) return;
    links.splice(at + 1, 0, link);
    there.add(link.code);
  });
  return { ...page, links };
}
