/** What a guest owns, in the cache, newest first. */
import { infiniteQueryOptions } from '@tanstack/react-query';
import { failureCode, removeLinks, restoreLinks, showLinks, whenLinkMade } from '../../api';
import { cache } from '../../api/cache';
import { keys } from '../../api/keys';
import { showToast } from '../../components/toast';
import type { Guest } from '../../lib/owner';
import { messages } from './guestMessages';

/** Links that are asked for at a time. */
const PAGE = 20;

export function linksOf(guest: Guest) {
  return infiniteQueryOptions({
    queryKey: keys.guestLinks(guest),
    queryFn: ({ pageParam, signal }) =>
      showLinks(guest, { text: '', state: null, order: 'newest', limit: PAGE }, pageParam, {
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursor }) => cursor,
    // The link may have been changed on its own page meanwhile.
    staleTime: 0,
    // The list says it where it stands.
    meta: { onFailure: () => undefined },
  });
}

// It stands there as a plate; what is counted is asked for anew.
whenLinkMade((_link, owner) => {
  if (owner.kind === 'guest') askAnew(owner);
});

/** Removes a link, or takes that back; answers whether it worked, and tells where it did not. */
export async function changeLife(
  guest: Guest,
  code: string,
  change: 'remove' | 'restore',
): Promise<boolean> {
  try {
    await (change === 'remove' ? removeLinks : restoreLinks)(guest, [code]);
  } catch (error) {
    console.error(error);
    showToast(messages.failed[failureCode(error) === 'no-exist' ? 'gone' : change]);
    return false;
  }
  askAnew(guest);
  return true;
}

function askAnew(guest: Guest): void {
  void cache.invalidateQueries({ queryKey: keys.all(guest) });
}
