/**
 * Changes of an owner's links, as mutations.
 *
 * They run one after another, so that the last one wins here and on the server. A query that began
 * before a change ended is refetched, so that no stale response arrives after the change.
 *
 * When the page is hidden, every waiting mutation sends at once what no later one overrides, so the
 * order in which the waiting ones arrive does not matter. They can overtake the running mutation:
 * if it sets the same field, the server keeps the value that arrives last.
 */
import { mutationOptions } from '@tanstack/react-query';
import {
  changeLink,
  failureCode,
  removeLinks,
  restoreLinks,
  onLinkCreated,
  type Link,
  type LinkChanges,
} from '../../api';
import { cache } from '../../api/cache';
import { dependsOnLinks, keys, type Key } from '../../api/keys';
import { showToast } from '../../components/toast';
import type { Owner } from '../../lib/owner';
import { messages } from './messages';
import { moved, type Move } from './moves';
import { addLink, knownLink, linkOf, updateLink, updateLinks } from './queries';
import { withTags } from './tags';

/** Maximum codes per call. */
const MAX_CODES = 100;
/** Maximum concurrent calls when adding tags. */
const MAX_CALLS = 4;

const calls = { remove: removeLinks, restore: restoreLinks };
const failures = { remove: messages.notRemoved, restore: messages.notRestored };

/** Whether no later mutation sets the same field of a link. */
type IsLast = (code: string, field: keyof LinkChanges | 'state') => boolean;

interface Queued {
  /** Sends what no later mutation overrides. */
  sendLast: (isLast: IsLast) => Promise<unknown>;
  /** The outcome, if it was sent before its turn. */
  sent?: Promise<unknown>;
}

/** By the variables of the mutation. */
const queue = new WeakMap<object, Queued>();

/** Removes links. Returns the codes of removed links. Shows a toast on failure. */
export function remove(owner: Owner, links: readonly Link[]): Promise<string[]> {
  return move(owner, 'remove', links);
}

/** Restores removed links. Returns the codes of restored links. Shows a toast on failure. */
export function restore(owner: Owner, links: readonly Link[]): Promise<string[]> {
  return move(owner, 'restore', links);
}

/** Returns the mutation that changes a link. The cache changes once the server has confirmed it. */
export function changeOf(owner: Owner, code: string) {
  return ordered(
    owner,
    keys.change(owner),
    (changes: LinkChanges) => change(owner, code, changes),
    (changes, isLast) =>
      Object.fromEntries(
        Object.entries(changes).filter(([field]) => isLast(code, field as keyof LinkChanges)),
      ),
  );
}

/**
 * Returns the mutation that adds tags to links. Calls `onTagged` after each link. Starts no further
 * call once aborted.
 */
export function taggingOf(owner: Owner, signal: AbortSignal, onTagged: () => void) {
  return ordered(
    owner,
    keys.change(owner),
    async ({ links, tags }: { links: readonly Link[]; tags: readonly string[] }) => {
      const waiting = [...links];
      const work = async () => {
        for (let link = waiting.shift(); link && !signal.aborted; link = waiting.shift()) {
          await change(owner, link.code, { tags: withTags(link.tags, tags) });
          onTagged();
        }
      };
      try {
        await Promise.all(Array.from({ length: MAX_CALLS }, work));
      } finally {
        waiting.length = 0;
      }
    },
    ({ links, tags }, isLast) => ({
      links: links.filter(({ code }) => isLast(code, 'tags')),
      tags,
    }),
  );
}

/**
 * Returns a mutation that runs after those before it. `lastOf` returns what of its variables no
 * later mutation overrides; it calls `isLast` once for each link and field.
 */
function ordered<V extends object, D>(
  owner: Owner,
  mutationKey: Key,
  send: (variables: V) => Promise<D>,
  lastOf: (variables: V, isLast: IsLast) => V,
) {
  return mutationOptions({
    mutationKey,
    mutationFn: (variables: V) =>
      (queue.get(variables)?.sent as Promise<D> | undefined) ?? send(variables),
    scope: { id: 'links' },
    onMutate: (variables) => {
      queue.set(variables, { sendLast: (isLast) => send(lastOf(variables, isLast)) });
      return Date.now();
    },
    onSettled: async (_data, _error, _variables, since = 0) => {
      await refetchSince(owner, since);
      // Lists that are not shown are refetched when they are shown.
      const lists = { queryKey: keys.lists(owner), type: 'inactive' } as const;
      void cache.invalidateQueries({ ...lists, refetchType: 'none' });
    },
  });
}

// A page that closes cannot wait: a mutation that is not sent now is never sent. A page that comes
// back (from the back-forward cache) does not send it again, because that could undo what another
// page changed meanwhile.
addEventListener('pagehide', () => {
  const taken = new Set<string>();
  const isLast: IsLast = (code, field) => {
    const count = taken.size;
    return taken.add(`${code} ${field}`).size > count;
  };
  for (const { state } of cache.getMutationCache().findAll({ status: 'pending' }).reverse()) {
    const queued = queue.get(state.variables as object);
    if (!state.isPaused || !queued || queued.sent) continue;
    queued.sent = queued.sendLast(isLast);
    queued.sent.catch(console.error);
  }
});

async function move(owner: Owner, kind: Move['kind'], links: readonly Link[]): Promise<string[]> {
  const done: string[] = [];
  const variables = { kind, codes: new Set(links.map(({ code }) => code)) };
  const mutationFn = async ({ codes }: Move) => {
    const left = [...codes];
    while (left.length > 0) {
      const some = left.splice(0, MAX_CODES);
      await calls[kind](owner, some);
      updateLinks(owner, new Set(some), (link) => moved(link, [variables]));
      done.push(...some);
    }
  };
  const onError = (error: Error) => {
    const code = failureCode(error);
    if (code !== 'invalid-token') showToast(failures[kind](links.length - done.length));
    // The links may have been changed elsewhere.
    if (code === 'no-exist') void cache.invalidateQueries({ queryKey: keys.all(owner) });
  };
  const lastOf = ({ codes }: Move, isLast: IsLast): Move => {
    return { kind, codes: new Set([...codes].filter((code) => isLast(code, 'state'))) };
  };
  const options = { ...ordered(owner, keys.move(owner), mutationFn, lastOf), onError };
  await cache
    .getMutationCache()
    .build(cache, options)
    .execute(variables)
    .catch(() => undefined);
  return done;
}

async function change(owner: Owner, code: string, changes: LinkChanges): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  updateLink(owner, await changeLink(owner, code, changes));
  // Only the server has the history of destinations.
  if (changes.url !== undefined) void cache.invalidateQueries({ queryKey: keys.link(owner, code) });
}

/**
 * Refetches queries that are in flight or were updated after `since` (epoch milliseconds), because
 * a change may be missing.
 */
async function refetchSince(owner: Owner, since: number): Promise<void> {
  const filters = { queryKey: keys.all(owner), predicate: dependsOnLinks };
  const queries = cache.getQueryCache().findAll(filters);
  const isOld = queries.some(
    ({ state }) => state.fetchStatus === 'fetching' || state.dataUpdatedAt >= since,
  );
  if (isOld) {
    await cache.cancelQueries(filters);
    void cache.invalidateQueries(filters);
  }
}

/** Adds a new link to its owner's lists at once, then requests it from the server. */
onLinkCreated((link, owner) => {
  addLink(owner, { ...link, recent: [] });
  void refetchSince(owner, Infinity).then(() => complete(owner, link.code));
});

/**
 * Replaces a new link in the lists with the stored one, whose URL the server may have normalized.
 */
async function complete(owner: Owner, code: string): Promise<void> {
  if (!knownLink(owner, code)) return;
  try {
    // A query of the cache, so that a change cancels it.
    const query = { ...linkOf(owner, code), meta: { onFailure: () => undefined } };
    updateLink(owner, (await cache.query(query)).link);
  } catch {
    // The cache has logged the error, and the list is refetched soon.
  }
}
