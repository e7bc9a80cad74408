import { useCallback, useEffect, useRef, useState } from 'react';
import { failureCode, loadAnew, showProfile, type ProfileLink } from '../../api';
import { showToast } from '../../components/toast';
import { endSession } from '../../lib/session';
import { loadError } from './messages';

export type Profile =
  | { state: 'loading' }
  | { state: 'loaded'; links: ProfileLink[] }
  /** What is asked once more shows the failure until there is an answer. */
  | { state: 'failed'; again: boolean };

/** A tab that is looked at again shows new counts, but not more often than this. */
const FRESH_FOR = 2_000;

/** The account's links: loaded at once, and anew whenever the page is looked at again. */
export function useProfile(token: string, onNotLogged: () => void) {
  const [profile, setProfile] = useState<Profile>({ state: 'loading' });
  const asking = useRef<AbortController>(null);
  const asked = useRef(0);
  const notLogged = useRef(onNotLogged);
  useEffect(() => {
    notLogged.current = onNotLogged;
  }, [onNotLogged]);

  const ask = useCallback(async () => {
    asking.current?.abort();
    const mine = (asking.current = new AbortController());
    asked.current = Date.now();
    try {
      const links = await showProfile(token, { signal: mine.signal });
      if (!mine.signal.aborted) setProfile({ state: 'loaded', links });
    } catch (error) {
      if (mine.signal.aborted) return;
      const code = failureCode(error);
      if (code === 'invalid-token') {
        endSession(token);
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
  }, [token]);

  useEffect(() => {
    const onLook = () => {
      const looking = document.visibilityState === 'visible';
      if (looking && Date.now() - asked.current > FRESH_FOR) void ask();
    };
    // Not before this effect is known to stay.
    const start = setTimeout(() => void ask());
    addEventListener('focus', onLook);
    document.addEventListener('visibilitychange', onLook);
    return () => {
      clearTimeout(start);
      removeEventListener('focus', onLook);
      document.removeEventListener('visibilitychange', onLook);
      asking.current?.abort();
    };
  }, [ask]);

  const reload = useCallback(() => {
    setProfile((known) => (known.state === 'failed' ? { state: 'failed', again: true } : known));
    void ask();
  }, [ask]);

  return { profile, reload };
}
