/**
 * What the server said of an owner, for every page that shows it. The app has one cache; its code
 * comes with the first route that needs it. A key begins with the owner, such as [owner, 'links'], so
 * that nothing of one owner is ever shown to another.
 */
import {
  focusManager,
  MutationCache,
  notifyManager,
  QueryCache,
  QueryClient,
} from '@tanstack/react-query';
import { subscribe as subscribeToGuest } from '../lib/guest';
import {
  confirmSessionOf,
  currentGuest,
  currentOwner,
  endSessionOf,
  type Owner,
} from '../lib/owner';
import { subscribe } from '../lib/session';
import { failureCode, failureReason } from './failure';
import type { Key } from './keys';
import { loadAnew } from './loading';

declare module '@tanstack/react-query' {
  interface Register {
    queryKey: Key;
    mutationKey: Key;
    queryMeta: {
      /** Tells people that the call failed, where the cache does not know better what to do. */
      onFailure: () => void;
    };
  }
}

/** Milliseconds for which an answer is not asked for again. */
export const FRESH_FOR = 5_000;
/** Milliseconds for which an answer that nobody looks at is kept, where there may be many of its kind. */
export const KEPT_FOR = 5 * 60_000;

export const cache = new QueryClient({
  queryCache: new QueryCache({
    onSuccess: (_data, { queryKey: [owner] }) => confirmSessionOf(owner),
    onError: (error, { queryKey: [owner], meta }) => {
      const code = failureCode(error);
      if (code === 'invalid-token') endSessionOf(owner);
      // Outcomes that the page itself says.
      if (code === 'invalid-token' || code === 'no-logged' || code === 'no-exist') return;
      if (code === 'outdated' && loadAnew()) return;
      console.error(error);
      meta?.onFailure();
    },
  }),
  mutationCache: new MutationCache({
    onError: (error, _variables, _result, { options: { mutationKey } }) => {
      if (failureCode(error) === 'invalid-token' && mutationKey) endSessionOf(mutationKey[0]);
      // What the server names is said on the page.
      else if (failureReason(error) === undefined) console.error(error);
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: FRESH_FOR,
      // For the whole visit, where a query says nothing else; an account's go with its session (below).
      gcTime: Infinity,
      // Who looks at the page again sees what is new; a server that just failed is left alone.
      refetchOnWindowFocus: ({ state }) => Date.now() - state.errorUpdatedAt > FRESH_FOR,
      // A failure is told at once, offline too, and people try again themselves.
      networkMode: 'always',
      retry: false,
    },
    mutations: { gcTime: FRESH_FOR, networkMode: 'always' },
  },
});

// Who awaits a change goes on after the page has been told of it. In a task of its own, as is usual,
// the page would be told later: an editor that closes would show for a moment what was before.
notifyManager.setScheduler(queueMicrotask);

// Of two windows side by side both are visible all the time: only the focus says who is looked at.
focusManager.setEventListener((onFocus) => {
  const listener = () => onFocus();
  addEventListener('focus', listener);
  addEventListener('visibilitychange', listener);
  return () => {
    removeEventListener('focus', listener);
    removeEventListener('visibilitychange', listener);
  };
});
cache.mount();

// What is known of an account does not outlive its session, nor what is known of a guest the key,
// whichever page is open.
for (const watch of [subscribe, subscribeToGuest]) {
  watch(() => {
    cache.removeQueries({ predicate: ({ queryKey: [owner] }) => isGone(owner) });
  });
}

function isGone(owner: Owner): boolean {
  if (owner.kind === 'account') return owner !== currentOwner();
  return owner.kind === 'guest' && owner !== currentGuest();
}
