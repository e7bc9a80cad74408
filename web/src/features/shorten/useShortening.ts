import { useEffect, useRef, useState } from 'react';
import { createShortLink } from '../../api';
import { showToast } from '../../components/toast';
import { publicUrl } from '../../lib/config';
import { currentSession, endSession } from '../../lib/session';
import { newCode } from './code';
import { invalidToken, urlMessages } from './messages';
import { useResults } from './ResultsProvider';
import { createShortening, type Outcome, type Shortening } from './shortening';
import { checkUrl } from './url';

interface State {
  /** The link that is being shortened now. */
  working: string | null;
  error: string | undefined;
  submit: (text: string) => void;
}

/** A click on Shorten: refused here, or tried until it is answered, replaced or left. */
export function useShortening(wantsScheme: boolean): State {
  const { add } = useResults();
  const [working, setWorking] = useState<string | null>(null);
  const [error, setError] = useState<string>();
  const shortening = useRef<Shortening>(null);

  useEffect(() => {
    const onOutcome = (outcome: Outcome) => {
      setWorking(null);
      if (outcome.kind === 'shortened') {
        add({ code: outcome.code, url: outcome.url });
      } else if (outcome.kind === 'invalid-url') {
        setError(urlMessages.invalid);
      } else {
        showToast(invalidToken);
        endSession();
      }
    };
    const log = (failure: unknown) => console.error(failure);
    const ports = { create: createShortLink, newCode, random: Math.random, log, browser: window };
    const mine = (shortening.current = createShortening(ports, onOutcome));
    return () => mine.stop();
  }, [add]);

  const submit = (text: string) => {
    const url = text.trim();
    if (url === '' && working !== null) return;
    const verdict = checkUrl(url, { publicUrl: publicUrl(), wantsScheme });
    if (!verdict.ok) {
      setError(urlMessages[verdict.problem]);
      return;
    }
    setError(undefined);
    setWorking(url);
    shortening.current?.submit({ url, token: currentSession()?.token ?? null });
  };

  return { working, error, submit };
}
