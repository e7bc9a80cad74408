import { useQuery } from '@tanstack/react-query';
import { failureCode, type ProfileLink } from '../../api';
import { cache } from '../../api/cache';
import type { Account } from '../../lib/owner';
import { linksOf } from './links';

export type ListState =
  | { state: 'loading' }
  | { state: 'loaded'; links: ProfileLink[] }
  /** What is asked once more shows the failure until there is an answer. */
  | { state: 'failed'; again: boolean }
  /** The server takes the caller for nobody. */
  | { state: 'not-logged' };

/** The links of an account: those that are known at once, and anew when they are no longer fresh. */
export function useLinks(owner: Account): { list: ListState; reload: () => void } {
  const query = useQuery(linksOf(owner), cache);
  return { list: stateOf(query), reload: () => void query.refetch() };
}

function stateOf(query: ReturnType<typeof useQuery<ProfileLink[]>>): ListState {
  // What failed before this page was opened says nothing: it asks for itself.
  const code = query.isFetchedAfterMount && query.isError ? failureCode(query.error) : null;
  if (code === 'no-logged') return { state: 'not-logged' };
  if (query.data) return { state: 'loaded', links: query.data };
  // The session of a token that was refused is about to end.
  if (!query.isFetchedAfterMount || code === 'invalid-token') return { state: 'loading' };
  return { state: 'failed', again: query.isFetching };
}
