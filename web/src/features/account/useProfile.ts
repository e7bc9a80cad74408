import { useCallback, useEffect, useRef, useState } from 'react';
import { failureCode, linksCreated, loadAnew, showProfile, type ProfileLink } from '../../api';
import { showToast } from '../../components/toast';
import { currentOwner, endSessionOf, type Account } from '../../lib/owner';
import { subscribe } from '../../lib/session';
import { loadError } from './messages';

export type Profile =
  | { state: 'loading' }
  | { state: 'loaded'; links: ProfileLink[] }
  /** What is asked once more shows the failure until there is an answer. */
  | { state: 'failed'; again: boolean };

/** A page that is looked at again shows new counts, but not more often than this. */
const FRESH_FOR = 5_000;

interface Kept {
  owner: Account;
  links: ProfileLink[];
  asked: number;
  created: number;
}

/** The latest list, for who comes back to the page; of one session at a time. */
let kept: Kept | undefined;
let unsubscribe: (() => void) | undefined;

/** Nothing of the account stays behind who logs out, on whichever page. */
function keep(list: Kept): void {
  if (currentOwner() !== list.owner) return;
  kept = list;
  unsubscribe ??= subscribe(() => {
    if (currentOwner() === kept?.owner) return;
    kept = undefined;
    unsubscribe?.();
    unsubscribe = undefined;
  });
}

/**
 * The account's links: those that are known at once, and anew whenever the page is looked at again
 * after a while or a link was made meanwhile.
 */
export function useProfile(owner: Account, onNotLogged: () => void) {
  const [profile, setProfile] = useState<Profile>(() =>
    kept?.owner === owner ? { state: 'loaded', links: kept.links } : { state: 'loading' },
  );
  const asking = useRef<AbortController>(null);
  const asked = useRef(0);
  const notLogged = useRef(onNotLogged);
  useEffect(() => {
    notLogged.current = onNotLogged;
  }, [onNotLogged]);

  const ask = useCallback(async () => {
    asking.current?.abort();
    const mine = (asking.current = new AbortController());
    const now = (asked.current = Date.now());
    const created = linksCreated();
    try {
      const answer = await showProfile(owner, { signal: mine.signal });
      if (mine.signal.aborted) return;
      const links = kept?.owner === owner ? unchanged(kept.links, answer) : answer;
      keep({ owner, links, asked: now, created });
      setProfile((known) =>
        known.state === 'loaded' && known.links === links ? known : { state: 'loaded', links },
      );
    } catch (error) {
      if (mine.signal.aborted) return;
      const code = failureCode(error);
      if (code === 'invalid-token') {
        endSessionOf(owner);
      } else if (code === 'no-logged') {
        notLogged.current();
      } else if (code !== 'outdated' || !loadAnew()) {
        console.error(error);
        showToast(loadError);
        // What was loaded before is old, but it is there to read.
        setProfile((known) =>
          known.state === 'loaded' ? known : { state: 'failed', again: false },
        );
      }
    }
  }, [owner]);

  useEffect(() => {
    asked.current = kept?.owner === owner && kept.created === linksCreated() ? kept.asked : 0;
    const onLook = () => {
      const looking = document.visibilityState === 'visible';
      if (looking && Date.now() - asked.current > FRESH_FOR) void ask();
    };
    // Not before this effect is known to stay.
    const start = setTimeout(() => {
      if (Date.now() - asked.current > FRESH_FOR) void ask();
    });
    addEventListener('focus', onLook);
    document.addEventListener('visibilitychange', onLook);
    return () => {
      clearTimeout(start);
      removeEventListener('focus', onLook);
      document.removeEventListener('visibilitychange', onLook);
      asking.current?.abort();
    };
  }, [ask, owner]);

  const reload = useCallback(() => {
    setProfile((known) => (known.state === 'failed' ? { state: 'failed', again: true } : known));
    void ask();
  }, [ask]);

  return { profile, reload };
}

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
