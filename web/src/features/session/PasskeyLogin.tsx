import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { failureCode, type Login } from '../../api';
import { beginLogin, finishLogin } from '../../api/passkeys';
import { Button } from '../../components/Button';
import { deviceToken } from '../../lib/session';
import { useHere } from '../../lib/useHere';
import { askForPasskey, canOfferPasskeys, hasPasskeys, webAuthnError } from '../../lib/webAuthn';
import styles from './Form.module.css';
import { failureText } from './failureText';
import { login } from './messages';
import { passkeyLogin as texts } from './passkeyMessages';

/** Milliseconds after which a new challenge is requested. Each is valid for five minutes. */
const REFRESH = 4 * 60_000;

/**
 * Logs in with a passkey: by a button, or as the browser offers it in the field of the email.
 *
 * Shows nothing in browsers without passkeys.
 */
export function PasskeyLogin({ onLogin }: { onLogin: (login: Login) => void }) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState('');
  /** Counts the offers in the field. Each has a challenge of its own. */
  const [offers, setOffers] = useState(0);
  const leaving = useRef(new AbortController());
  const isHere = useHere();

  const ask = async (mediation: CredentialMediationRequirement, signal: AbortSignal) =>
    askForPasskey(await beginLogin({ signal }), mediation, signal);

  const finish = async (credential: unknown) =>
    onLogin(await finishLogin({ credential, device: deviceToken() }));

  const explain = (error: unknown) => {
    const code = failureCode(error);
    const refusal = webAuthnError(error);
    const isOutcome = code === 'no-exist' || code === 'incorrect' || code === 'suspended';
    const isExpected = refusal === 'NotAllowedError' || isOutcome;
    if (!isExpected) console.error(error);
    if (!isHere()) return;
    if (refusal !== '') setFailed(texts.declined);
    else if (code === 'suspended') setFailed(login.suspended);
    else if (code === 'no-exist') setFailed(texts.unknown);
    else setFailed(code === 'incorrect' ? texts.refused : failureText(error));
  };

  /** Offers passkeys in the field, until the user chooses one or `signal` is aborted. */
  const offer = useEffectEvent(async (signal: AbortSignal) => {
    let credential: unknown;
    try {
      credential = await ask('conditional', signal);
    } catch (error) {
      // Nobody asked for it, so the page does not mention it. A browser may refuse.
      if (!signal.aborted && webAuthnError(error) === '') console.error(error);
      return;
    }
    try {
      await finish(credential);
    } catch (error) {
      explain(error);
    }
  });

  // A browser has one request at a time: the button ends the offer, which begins again after it.
  useEffect(() => {
    if (busy) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    canOfferPasskeys().then(
      (can) => {
        if (can && !signal.aborted) void offer(signal);
      },
      (error: unknown) => console.error(error),
    );
    const timer = setTimeout(() => setOffers((count) => count + 1), REFRESH);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [busy, offers]);

  useEffect(() => {
    const controller = (leaving.current = new AbortController());
    return () => controller.abort();
  }, []);

  const onClick = async () => {
    setBusy(true);
    setFailed('');
    const { signal } = leaving.current;
    try {
      await finish(await ask('optional', signal));
    } catch (error) {
      if (!signal.aborted) explain(error);
    } finally {
      if (isHere()) setBusy(false);
    }
  };

  if (!hasPasskeys()) return null;
  return (
    <>
      <div>
        <Button busy={busy} onClick={() => void onClick()}>
          {texts.button}
        </Button>
      </div>
      <p className={styles.failed} role="alert">
        {failed}
      </p>
    </>
  );
}
