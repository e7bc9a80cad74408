/** A guest's links in the query cache, newest first. */
import { infiniteQueryOptions } from '@tanstack/react-query';
import { failureCode, removeLinks, restoreLinks, showLinks, onLinkCreated } from '../../api';
import { cache } from '../../api/cache';
import { keys } from '../../api/keys';
import { showToast } from '../../components/toast';
import type { Guest } from '../../lib/owner';
import { messages } from './guestMessages';

/** Links per page. */
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
    // A link may have been changed on its own page.
    staleTime: 0,
    // The list shows the failure itself.
    meta: { onFailure: () => undefined },
  });
}

// The new link is shown as a plate. Refetch the counts.
onLinkCreated((_link, owner) => {
  if (owner.kind === 'guest') invalidate(owner);
});

/** Removes or restores a link. Returns whether that succeeded, and shows a toast if not. */
export async function removeOrRestore(
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
  invalidate(guest);
  return true;
}

function invalidate(guest: Guest): void {
  void cache.invalidateQueries({ queryKey: keys.all(guest) });
}
