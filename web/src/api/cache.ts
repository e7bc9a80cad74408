/**
 * What the server said of an owner, for every page that shows it: one cache in the whole app, which
 * comes with the first route that needs it. A key begins with the owner, so that nothing of one is
 * ever shown to another, and what is known of an account goes with its session.
 */
import { focusManager, QueryCache, QueryClient } from '@tanstack/react-query';
import { currentOwner, endSessionOf, type Owner } from '../lib/owner';
import { subscribe } from '../lib/session';
import { failureCode } from './failure';
import { loadAnew } from './loading';

declare module '@tanstack/react-query' {
  interface Register {
    queryKey: readonly [Owner, ...string[]];
    queryMeta: {
      /** Tells of a failure that is not dealt with here. What was known before stays. */
      onFailure: () => void;
    };
  }
}

/** Milliseconds for which an answer is not asked for again. */
const FRESH_FOR = 5_000;

/** Nobody who logged out comes back to their lists; any other list is there for the whole visit. */
export const cache = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey: [owner], meta }) => {
      const code = failureCode(error);
      if (code === 'invalid-token') endSessionOf(owner);
      if (code === 'invalid-token' || code === 'no-logged') return;
      if (code === 'outdated' && loadAnew()) return;
      console.error(error);
      meta?.onFailure();
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: FRESH_FOR,
      gcTime: Infinity,
      // A page that is looked at again asks again, but one that just failed not at once.
      refetchOnWindowFocus: ({ state }) => Date.now() - state.errorUpdatedAt > FRESH_FOR,
      // A failure is told at once, offline too; to try again is up to who looks.
      networkMode: 'always',
      retry: false,
    },
  },
});

// Windows that stand side by side are all visible: the one that is turned to gets the focus.
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
subscribe(() => {
  cache.removeQueries({
    predicate: ({ queryKey: [owner] }) => owner.kind === 'account' && owner !== currentOwner(),
  });
});
