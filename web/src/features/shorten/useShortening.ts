import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useLocation, useNavigate, type Path } from 'react-router-dom';
import { createShortLink, reloadOnce } from '../../api';
import { showToast } from '../../components/toast';
import { announce } from '../../lib/announce';
import { origins, shortAddress } from '../../lib/config';
import { newCode } from '../../lib/newCode';
import {
  confirmSessionOf,
  currentOwner,
  endSessionOf,
  nobody,
  ownerOfNewLink,
  type Owner,
} from '../../lib/owner';
import {
  forgetPending,
  keepPending,
  nameOf,
  readPending,
  type Pending,
} from '../../lib/pendingLink';
import { messages } from './messages';
import { useResults } from './ResultsProvider';
import { loadRules } from './rules';
import { createShortening, type Outcome, type Request, type Shortening } from './shortening';
import { LONG_WAIT, type Wait } from './wait';

interface ShownError {
  text: string;
  /** Counts the errors, so that the same one is announced again. */
  attempt: number;
  /** Whether a toast shows it, too. */
  toasted: boolean;
}

interface State {
  /** The link that is being shortened now. */
  working: string | null;
  error: ShownError | undefined;
  /** The wait, if the server asked for one. */
  wait: Wait | null;
  /** A link that another user of this browser asked for offline, for the field; '' for none. */
  foreign: string;
  submit: (text: string, choice: Choice) => void;
  giveUp: () => void;
}

/** What an account chose in Customize. */
export interface Choice {
  /** The custom code, '' for none. */
  ending: string;
  /** The domain of the short URL; undefined for the public host. */
  domain?: string | undefined;
}

/** Callbacks for the result of what was chosen in Customize. */
interface Chosen {
  onMade: () => void;
  /**
   * The ending is taken, or the domain no longer listed. The URL is given back to be put into the
   * field. Returns whether the field of the choice says so.
   */
  onRefused: (refused: 'taken' | 'unlisted', url: string) => boolean;
}

const log = (failure: unknown) => console.error(failure);

/**
 * Returns the state and the actions of the shortener.
 *
 * The page refuses an invalid link itself. It retries a valid one until the server responds,
 * another one replaces it, or the user cancels or leaves.
 */
export function useShortening(wantsScheme: boolean, chosen: Chosen): State {
  const { add } = useResults();
  const [{ resumed, foreign }] = useState(leftBehind);
  const [working, setWorking] = useState<string | null>(resumed?.url ?? null);
  const [wait, setWait] = useState<Wait | null>(null);
  const [error, setError] = useState<ShownError>();
  const attempts = useRef(0);
  /** Owner of the link in flight. */
  const owner = useRef<Owner>(nobody);
  /** Whether its code is custom. */
  const custom = useRef(false);
  const shortening = useRef<Shortening>(null);
  const navigate = useNavigate();
  const { pathname, search, hash, state } = useLocation() as {
    state: { link?: unknown } | null;
  } & Path;

  const fail = (text: string, toasted = false) => {
    setError({ text, attempt: (attempts.current += 1), toasted });
  };

  const onOutcome = useEffectEvent((outcome: Outcome) => {
    setWorking(null);
    forgetPending();
    if (outcome.kind === 'shortened') {
      const { code, url, domain } = outcome;
      const result = { code, url, domain, owner: owner.current };
      add(result);
      confirmSessionOf(result.owner);
      chosen.onMade();
      announce(messages.ready(shortAddress(code, domain)));
    } else if (outcome.kind === 'taken' || outcome.kind === 'unlisted') {
      if (!chosen.onRefused(outcome.kind, outcome.url)) fail(messages[outcome.kind]);
    } else if (outcome.kind === 'refused') {
      fail(messages[outcome.problem]);
    } else if (outcome.kind === 'no-logged') {
      fail(messages.logIn + messages.toShorten);
    } else {
      showToast(messages.invalidToken);
      fail(messages.invalidToken, true);
      endSessionOf(owner.current);
    }
  });

  /** Stores a link in the history, where the next document finds it for its field. */
  const keepLink = (link: string | null) => {
    void navigate({ pathname, search, hash }, { replace: true, state: link && { link } });
  };

  const reloadWithLink = useEffectEvent((url: string): boolean => reloadOnce(() => keepLink(url)));

  const start = (url: string, { ending, domain }: Choice) => {
    setError(undefined);
    if (state?.link !== undefined) keepLink(null);
    setWorking(url);
    setWait(null);
    owner.current = ownerOfNewLink();
    custom.current = ending !== '';
    shortening.current?.submit({ url, domain, owner: owner.current, ...(ending && { ending }) });
  };

  useEffect(() => {
    const onRetryAfter = (duration: number | null) => {
      if (duration === null) setWait((known) => known && { ...known, until: null });
      else if (duration >= LONG_WAIT)
        setWait({ until: Date.now() + duration, words: messages.retrying(duration) });
    };
    const ports = {
      create: ({ code, url, domain, owner }: Request, options: { signal: AbortSignal }) =>
        createShortLink({ code, url, ...(domain !== undefined && { domain }) }, owner, options),
      newCode,
      random: Math.random,
      log,
      reload: (url: string) => reloadWithLink(url),
      onAttempt: ({ url, code, domain, owner: by }: Request) => {
        if (navigator.onLine) return;
        keepPending({ url, code, domain, isCustom: custom.current, owner: nameOf(by) });
      },
      onRetryAfter,
      browser: window,
    };
    const mine = (shortening.current = createShortening(ports, (outcome) => onOutcome(outcome)));
    if (resumed) {
      const { url, code, domain, isCustom } = resumed;
      owner.current = ownerOfNewLink();
      custom.current = isCustom;
      mine.submit({
        url,
        domain,
        owner: owner.current,
        ...(isCustom ? { ending: code } : { code }),
      });
    } else {
      forgetPending();
    }
    return () => {
      mine.stop();
      shortening.current = null; // Rules that load later start nothing.
    };
  }, [resumed]);

  const submit = (text: string, choice: Choice) => {
    if (text.trim() === '' && working !== null) return;
    forgetPending();
    loadRules().then(
      ({ checkUrl, cleanUrl }) => {
        const verdict = checkUrl(text, { origins: origins(), wantsScheme });
        if (verdict.ok) start(cleanUrl(text), choice);
        else fail(messages[verdict.problem]);
      },
      (error: unknown) => {
        log(error);
        start(text.trim(), choice); // The server has the same rules.
      },
    );
  };

  const giveUp = () => {
    shortening.current?.stop();
    setWorking(null);
    forgetPending();
  };

  return { working, wait, error, foreign, submit, giveUp };
}

/** Returns the link that was asked for offline before the page was left. */
function leftBehind(): { resumed: Pending | null; foreign: string } {
  const pending = readPending();
  if (pending?.owner === nameOf(currentOwner())) return { resumed: pending, foreign: '' };
  return { resumed: null, foreign: pending?.url ?? '' };
}
