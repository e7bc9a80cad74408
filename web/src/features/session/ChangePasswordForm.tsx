import { useId, useRef, useState, type SubmitEvent } from 'react';
import { changePassword, failureCode } from '../../api';
import { Button } from '../../components/Button';
import { PasswordField } from '../../components/Field';
import { forgetApiKey } from '../../lib/apiKey';
import { endSessionOf, type Account } from '../../lib/owner';
import { startSession, username } from '../../lib/session';
import { useHere } from '../../lib/useHere';
import styles from './Form.module.css';
import { hashPassword } from './hash';
import { failureText } from './failureText';
import { account as texts, login, messages } from './messages';
import { PasswordRules } from './PasswordRules';
import { RevokeOption } from './RevokeOption';
import { isGoodPassword } from './rules';

/** A form for a new password. The session continues here and ends everywhere else. */
export function ChangePasswordForm({ account }: { account: Account }) {
  const rulesId = useId();
  const form = useRef<HTMLFormElement>(null);
  const [old, setOld] = useState('');
  const [fresh, setFresh] = useState('');
  const [revoke, setRevoke] = useState(false);
  const [problem, setProblem] = useState<{ old?: string | undefined; fresh: boolean }>();
  const [attempt, setAttempt] = useState(0);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<{ done: boolean; text: string }>();
  const isHere = useHere();

  const focus = (name: string) =>
    form.current?.querySelector<HTMLInputElement>(`[name="${name}"]`)?.focus();

  const change = async () => {
    setBusy(true);
    try {
      const { password, salt } = await hashPassword(fresh);
      const session = await changePassword(account, {
        password: old,
        new_password: password,
        new_salt: salt,
        revoke,
      });
      if (revoke) forgetApiKey();
      startSession(session, username());
      if (!isHere()) return;
      setOld('');
      setFresh('');
      setRevoke(false);
      setProblem(undefined);
      setSaid({ done: true, text: texts.passwordChanged });
    } catch (error) {
      const code = failureCode(error);
      if (code === 'invalid-token' || code === 'no-logged') {
        endSessionOf(account);
        return;
      }
      if (code !== 'incorrect') console.error(error);
      if (!isHere()) return;
      if (code === 'incorrect') {
        setProblem({ old: login.incorrect, fresh: false });
        focus('password');
      } else setSaid({ done: false, text: failureText(error) });
    } finally {
      if (isHere()) setBusy(false);
    }
  };

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    const found = {
      old: old === '' ? messages.noPassword : undefined,
      fresh: !isGoodPassword(fresh),
    };
    setSaid(undefined);
    setProblem(found);
    setAttempt(attempt + 1);
    if (found.old) focus('password');
    else if (found.fresh) focus('new-password');
    else void change();
  };

  return (
    <form ref={form} className={styles.form} onSubmit={onSubmit} noValidate>
      <PasswordField
        label={messages.currentPassword}
        name="password"
        autoComplete="current-password"
        value={old}
        onChange={(event) => setOld(event.target.value)}
        error={problem?.old}
        attempt={attempt}
        aria-required
      />
      <PasswordField
        label={messages.newPassword}
        name="new-password"
        autoComplete="new-password"
        value={fresh}
        onChange={(event) => setFresh(event.target.value)}
        aria-invalid={(problem?.fresh && !isGoodPassword(fresh)) || undefined}
        describedBy={rulesId}
        aria-required
      />
      <PasswordRules id={rulesId} password={fresh} insist={problem?.fresh ?? false} />
      <p>{texts.codesDeleted}</p>
      <RevokeOption checked={revoke} onChange={setRevoke} />
      <p className={said?.done === false ? styles.failed : undefined} role="status">
        {said?.text}
      </p>
      <div>
        <Button type="submit" variant="primary" busy={busy}>
          {texts.changePassword}
        </Button>
      </div>
    </form>
  );
}
