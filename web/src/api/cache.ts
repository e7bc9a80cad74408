/**
 * Query cache of server responses, shared by all pages.
 *
 * The app has one cache. Its code loads with the first route that needs it. A key begins with the
 * owner, such as [owner, 'links'], so that no data of one owner is ever shown to another.
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
import { failureCode, failureReason, type FailureCode } from './failure';
import type { Key } from './keys';
import { reloadOnce } from './loading';

declare module '@tanstack/react-query' {
  interface Register {
    queryKey: Key;
    mutationKey: Key;
    queryMeta: {
      /** Reports a failed call to the user, unless the cache handles the failure itself. */
      onFailure: () => void;
    };
  }
}

/** Milliseconds for which a response is fresh and is not requested again. */
export const FRESH_FOR = 5_000;
/** Milliseconds for which unused data is kept, for queries that can have many keys. */
export const KEPT_FOR = 5 * 60_000;

/** Outcomes that the pages show themselves. */
const shownByPage: ReadonlySet<FailureCode> = new Set([
  'invalid-token',
  'no-logged',
  'no-exist',
  'not-allowed',
  'confirm',
]);

export const cache = new QueryClient({
  queryCache: new QueryCache({
    onSuccess: (_data, { queryKey: [owner] }) => confirmSessionOf(owner),
    onError: (error, { queryKey: [owner], meta }) => {
      const code = failureCode(error);
      if (code === 'invalid-token') endSessionOf(owner);
      if (shownByPage.has(code)) return;
      if (code === 'outdated' && reloadOnce()) return;
      console.error(error);
      meta?.onFailure();
    },
  }),
  mutationCache: new MutationCache({
    onError: (error, _variables, _result, { options: { mutationKey } }) => {
      if (failureCode(error) === 'invalid-token' && mutationKey) endSessionOf(mutationKey[0]);
      // The page shows failures that have a reason.
      else if (failureReason(error) === undefined) console.error(error);
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: FRESH_FOR,
      // Default: until the document is closed. Data of an account is removed with its session
      // (below).
      gcTime: Infinity,
      // Refetch when the window gets the focus, unless the server just failed.
      refetchOnWindowFocus: ({ state }) => Date.now() - state.errorUpdatedAt > FRESH_FOR,
      // Report failures at once, even offline. The user decides whether to retry.
      networkMode: 'always',
      retry: false,
    },
    mutations: { gcTime: FRESH_FOR, networkMode: 'always' },
  },
});

// Notify components in a microtask, before callers that await a mutation resume. With a separate
// task, the default, a closing editor would briefly show the old value.
notifyManager.setScheduler(queueMicrotask);

// Use focus events too: two windows side by side are both visible, but only one has the focus.
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

// Remove an account's data when its session ends, and a guest's data when the guest key is deleted,
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
