/**
 * Changes of an owner's links, as mutations.
 *
 * They are sent one after the other, so that the last one wins here and at the server. No answer
 * that was asked for before a change ended comes after it: such queries are refetched.
 */
import { mutationOptions } from '@tanstack/react-query';
import {
  changeLink,
  failureCode,
  removeLinks,
  restoreLinks,
  whenLinkMade,
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
/** Calls of a tagging that are in flight at a time. */
const MAX_CALLS = 4;

const calls = { remove: removeLinks, restore: restoreLinks };
const failures = { remove: messages.notRemoved, restore: messages.notRestored };

/** Removes links; returns the codes of those that were removed. Tells of failures. */
export function remove(owner: Owner, links: readonly Link[]): Promise<string[]> {
  return move(owner, 'remove', links);
}

/** Restores removed links; returns the codes of those that were restored. Tells of failures. */
export function restore(owner: Owner, links: readonly Link[]): Promise<string[]> {
  return move(owner, 'restore', links);
}

/** A change of one link, made only once the server has confirmed it. */
export function changeOf(owner: Owner, code: string) {
  return ordered(owner, keys.change(owner), (changes: LinkChanges) => change(owner, code, changes));
}

/** The addition of tags to links. `onTagged` is called after each; no more start once aborted. */
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
  );
}

/** Options of a mutation that follows those before it. */
function ordered<V, D>(owner: Owner, mutationKey: Key, mutationFn: (variables: V) => Promise<D>) {
  return mutationOptions({
    mutationKey,
    mutationFn,
    scope: { id: 'links' },
    onMutate: () => Date.now(),
    onSettled: async (_data, _error, _variables, since = 0) => {
      await refetchSince(owner, since);
      // Lists that are not shown are refetched when they are.
      const lists = { queryKey: keys.lists(owner), type: 'inactive' } as const;
      void cache.invalidateQueries({ ...lists, refetchType: 'none' });
    },
  });
}

// A page that is left does not wait: what is not sent by now is never sent.
addEventListener('pagehide', () => {
  for (const { state, options } of cache.getMutationCache().findAll({ status: 'pending' })) {
    if (!state.isPaused) continue;
    options.mutationFn?.(state.variables, { client: cache, meta: undefined }).catch(console.error);
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
    // Somebody else may have changed them.
    if (code === 'no-exist') void cache.invalidateQueries({ queryKey: keys.all(owner) });
  };
  const options = { ...ordered(owner, keys.move(owner), mutationFn), onError };
  await cache
    .getMutationCache()
    .build(cache, options)
    .execute(variables)
    .catch(() => undefined);
  return done;
}

async function change(owner: Owner, code: string, changes: LinkChanges): Promise<void> {
  updateLink(owner, await changeLink(owner, code, changes));
  // The server knows the history of its addresses.
  if (changes.url !== undefined) void cache.invalidateQueries({ queryKey: keys.link(owner, code) });
}

/** Refetches what is on its way, or came after `since` (epoch milliseconds): a change may be missing. */
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

/** A new link is in its owner's lists at once; then the server is asked for it. */
whenLinkMade((link, owner) => {
  addLink(owner, { ...link, recent: [] });
  void refetchSince(owner, Infinity).then(() => complete(owner, link.code));
});

/** Replaces a new link in the lists with what the server made of the address that was typed. */
async function complete(owner: Owner, code: string): Promise<void> {
  if (!knownLink(owner, code)) return;
  try {
    // A query of the cache, so that a change cancels it.
    const query = { ...linkOf(owner, code), meta: { onFailure: () => undefined } };
    updateLink(owner, (await cache.query(query)).link);
  } catch {
    // The cache logged it, and the list is refetched before long.
  }
}
