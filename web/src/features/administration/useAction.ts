import { useState } from 'react';
import { failureCode, failureReason } from '../../api';
import { endRefusedSession } from '../../api/endRefusedSession';
import { announce } from '../../lib/announce';
import { useAdministrator } from './administrator';
import { failures } from './messages';

/** Returns the text for a failed call. */
export function failureText(error: unknown): string {
  const code = failureCode(error);
  if (code === 'confirm') return failures.notConfirmed;
  if (code === 'no-exist') return failures.gone;
  if (code === 'last-administrator') return failures.lastAdministrator;
  if (code === 'invalid-argument') {
    const reason = failureReason(error);
    if (reason === 'INVALID_ADDRESS') return failures.noSubject;
    if (reason === 'INVALID_CAUSE') return failures.comment;
    if (reason === 'INVALID_EMAIL') return failures.email;
    return failures.invalid;
  }
  return failures.other;
}

interface Action {
  /** Name of the action that runs; null for none. */
  busy: string | null;
  /** What the last action did, or why it failed. */
  said: string;
  /** Runs one action at a time. `call` returns what to say when it is done. */
  act: (name: string, call: () => Promise<string>) => Promise<void>;
}

/** Actions of a section, each with a text that says what happened. */
export function useAction(): Action {
  const { account, run } = useAdministrator();
  const [busy, setBusy] = useState<string | null>(null);
  const [said, setSaid] = useState('');

  const act = async (name: string, call: () => Promise<string>) => {
    if (busy !== null) return;
    setBusy(name);
    setSaid('');
    let text: string;
    try {
      text = await run(call);
    } catch (error) {
      if (endRefusedSession(account, error)) return;
      if (failureCode(error) === 'failed') console.error(error);
      text = failureText(error);
    } finally {
      setBusy(null);
    }
    setSaid(text);
    announce(text);
  };

  return { busy, said, act };
}
