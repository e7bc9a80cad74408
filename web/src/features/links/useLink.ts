import { useQuery } from '@tanstack/react-query';
import { failureCode } from '../../api';
import { cache } from '../../api/cache';
import type { Owner } from '../../lib/owner';
import { moved, useMoves } from './moves';
import { knownLink, linkOf, type LinkWithHistory } from './queries';

export type LinkPageState =
  | ({ state: 'loaded' } & LinkWithHistory)
  | { state: 'loading' }
  | { state: 'failed'; again: boolean; reload: () => void }
  /** The link is not this owner's or does not exist. */
  | { state: 'no-exist' }
  /** For the server, the caller is not logged in. */
  | { state: 'not-logged' };

/** Returns a link of an owner: at once what a list contains, then what the server returns. */
export function useLink(owner: Owner, code: string): LinkPageState {
  const query = useQuery(
    { ...linkOf(owner, code), placeholderData: () => knownLink(owner, code) },
    cache,
  );
  const moves = useMoves(owner);
  const problem = query.isError ? failureCode(query.error) : null;
  if (problem === 'no-exist') return { state: 'no-exist' };
  if (problem === 'no-logged') return { state: 'not-logged' };
  if (query.data) {
    const { link, history } = query.data;
    return { state: 'loaded', link: moved(link, moves), history };
  }
  if (problem === null || problem === 'invalid-token') return { state: 'loading' };
  return { state: 'failed', again: query.isFetching, reload: () => void query.refetch() };
}
