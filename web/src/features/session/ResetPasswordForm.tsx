import { useId, useRef, useState, type SubmitEvent } from 'react';
import { Failure, failureCode } from '../../api';
import { logOut } from '../../api/logOut';
import { resetPassword } from '../../api/recovery';
import { Button } from '../../components/Button';
import { Field, PasswordField } from '../../components/Field';
import { tellDone } from '../../components/toast';
import { deviceToken } from '../../lib/session';
import { useHere } from '../../lib/useHere';
import styles from './Form.module.css';
import { hashPassword } from './hash';
import { failureText } from './failureText';
import { messages } from './messages';
import { PasswordRules } from './PasswordRules';
import { reset as texts } from './recoveryMessages';
import { RevokeOption } from './RevokeOption';
import { emailProblem, isGoodPassword } from './rules';

interface ResetPasswordFormProps {
  initialEmail: string;
  /** The code of a link of the operator, which always revokes API keys and passkeys. */
  initialCode: string;
  onReset: (email: string) => void;
}

interface Problems {
  email?: string | undefined;
  code?: string | undefined;
  password: boolean;
}

/** Sets a forgotten password with a recovery code. */
export function ResetPasswordForm({ initialEmail, initialCode, onReset }: ResetPasswordFormProps) {
  const rulesId = useId();
  const form = useRef<HTMLFormElement>(null);
  const [email, setEmail] = useState(initialEmail);
  const [code, setCode] = useState(initialCode);
  const [password, setPassword] = useState('');
  const [revoke, setRevoke] = useState(false);
  const [problems, setProblems] = useState<Problems>({ password: false });
  const [attempt, setAttempt] = useState(0);
  const [failed, setFailed] = useState('');
  const [busy, setBusy] = useState(false);
  const isHere = useHere();
  const hasLink = initialCode !== '' && code === initialCode;

  const focus = (name: string) =>
    form.current?.querySelector<HTMLInputElement>(`[name="${name}"]`)?.focus();

  const reset = async () => {
    setBusy(true);
    try {
      const hashed = await hashPassword(password);
      await resetPassword({
        email: email.trim(),
        recovery_code: code,
        new_password: hashed.password,
        new_salt: hashed.salt,
        device: deviceToken(),
        revoke,
      });
      // The server ended all sessions of the account. One of another account must log in, too.
      logOut();
      tellDone(texts.done);
      if (isHere()) onReset(email.trim());
    } catch (error) {
      const isWrong = failureCode(error) === 'incorrect';
      if (!isWrong) console.error(error);
      if (!isHere()) return;
      setBusy(false);
      if (isWrong) {
        setAttempt((last) => last + 1);
        setProblems({ password: false, code: texts.incorrect });
        focus('recovery-code');
      } else {
        const isUnknown = error instanceof Failure && error.code === 'failed';
        setFailed(isUnknown ? texts.unknown : failureText(error));
      }
    }
  };

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    const found: Problems = {
      email: emailProblem(email.trim()),
      code: code.trim() === '' ? texts.noCode : undefined,
      password: !isGoodPassword(password),
    };
    setFailed('');
    setProblems(found);
    setAttempt(attempt + 1);
    if (found.email) focus('email');
    else if (found.code) focus('recovery-code');
    else if (found.password) focus('new-password');
    else void reset();
  };

  return (
    <form ref={form} className={styles.form} onSubmit={onSubmit} noValidate>
      <Field
        label={messages.email}
        type="email"
        name="email"
        autoComplete="username"
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={problems.email}
        attempt={attempt}
        aria-required
      />
      <Field
        label={texts.code}
        type="text"
        name="recovery-code"
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        value={code}
        onChange={(event) => setCode(event.target.value)}
        error={problems.code}
        attempt={attempt}
        aria-required
      />
      <PasswordField
        label={messages.newPassword}
        name="new-password"
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        aria-invalid={(problems.password && !isGoodPassword(password)) || undefined}
        describedBy={rulesId}
        aria-required
      />
      <PasswordRules id={rulesId} password={password} insist={problems.password} />
      {hasLink ? (
        <p>{texts.operatorsLink}</p>
      ) : (
        <RevokeOption checked={revoke} onChange={setRevoke} />
      )}
      <p className={styles.failed} role="alert">
        {failed}
      </p>
      <div>
        <Button type="submit" variant="primary" busy={busy}>
          {texts.submit}
        </Button>
      </div>
    </form>
  );
}
