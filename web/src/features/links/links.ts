/** An owner's links in the cache: how they are asked for, and what a change makes of them. */
import { queryOptions } from '@tanstack/react-query';
import { showProfile, whenLinkMade, type ProfileLink } from '../../api';
import { cache } from '../../api/cache';
import { showToast } from '../../components/toast';
import type { Account } from '../../lib/owner';
import { loadError } from './messages';

export function linksOf(owner: Account) {
  return queryOptions({
    queryKey: [owner, 'links'],
    queryFn: ({ signal }) => showProfile(owner, { signal }),
    structuralSharing: (old, next) =>
      unchanged((old ?? []) as ProfileLink[], next as ProfileLink[]),
    meta: { onFailure: () => showToast(loadError) },
  });
}

/** A link that was made stands in its owner's list at once; then the server is asked for its own. */
whenLinkMade(({ code, url }, owner) => {
  if (owner.kind !== 'account') return;
  const { queryKey } = linksOf(owner);
  const link = {
    short_link: code,
    long_link: url,
    views: 0,
    created_at: new Date().toISOString(),
  };
  cache.setQueryData(
    queryKey,
    (known) => known && [link, ...known.filter((one) => one.short_link !== code)],
  );
  // In place of an answer that is on its way, too: it may not know of the link.
  void cache.invalidateQueries({ queryKey });
});

/** The new list made of the old rows where they say the same, or the old list where all do. */
function unchanged(old: ProfileLink[], next: ProfileLink[]): ProfileLink[] {
  const known = new Map(old.map((link) => [link.short_link, link]));
  const links = next.map((link) => {
    const before = known.get(link.short_link);
    return before && saysTheSame(before, link) ? before : link;
  });
  const same = links.length === old.length && links.every((link, index) => link === old[index]);
  return same ? old : links;
}

function saysTheSame(one: ProfileLink, other: ProfileLink): boolean {
  return (
    one.views === other.views &&
    one.long_link === other.long_link &&
    one.created_at === other.created_at
  );
}
