import { useId, useRef, useState, type SubmitEvent } from 'react';
import { failureCode, registerUser } from '../../api';
import { Button } from '../../components/Button';
import { Field, PasswordField } from '../../components/Field';
import { showToast } from '../../components/toast';
import { offerRecoveryCodes } from '../../lib/recoveryOffer';
import { currentSession, rememberUsername } from '../../lib/session';
import { useHere } from '../../lib/useHere';
import styles from './Form.module.css';
import { hashPassword, type HashedPassword } from './hash';
import { failureText } from './failureText';
import { messages, register as texts } from './messages';
import { PasswordRules } from './PasswordRules';
import { emailProblem, isGoodPassword, usernameProblem } from './rules';

interface Problems {
  email?: string | undefined;
  password?: boolean;
  username?: string | undefined;
  /** Counts the attempts, so that the same problem is announced again. */
  attempt: number;
}

export function RegisterForm({ onRegistered }: { onRegistered: (email: string) => void }) {
  const rulesId = useId();
  const form = useRef<HTMLFormElement>(null);
  const hashed = useRef<{ plain: string; made: HashedPassword }>(null);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [username, setUsername] = useState('');
  const [problems, setProblems] = useState<Problems>({ attempt: 0 });
  const [busy, setBusy] = useState(false);
  const [taken, setTaken] = useState(false);
  const [failed, setFailed] = useState('');
  const isHere = useHere();

  /** Hashes a password once, so that another attempt sends the same four fields. */
  const hashOnce = async () => {
    if (hashed.current?.plain !== password) {
      hashed.current = { plain: password, made: await hashPassword(password) };
    }
    return hashed.current.made;
  };

  const register = async (user: { email: string; username: string }) => {
    setBusy(true);
    setFailed('');
    try {
      await registerUser({ ...user, ...(await hashOnce()) });
      offerRecoveryCodes();
      // Keep the name of a user who has logged in meanwhile.
      if (!currentSession()) rememberUsername(user.username);
      if (isHere()) onRegistered(user.email);
    } catch (error) {
      const exists = failureCode(error) === 'exist';
      if (!exists) console.error(error);
      if (!isHere()) return;
      setBusy(false);
      if (exists) {
        showToast(texts.exist);
        setTaken(true);
        return;
      }
      setFailed(failureText(error));
    }
  };

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    const user = { email: email.trim(), username: username.trim() };
    const found: Problems = {
      attempt: problems.attempt + 1,
      email: emailProblem(user.email),
      password: !isGoodPassword(password),
      username: usernameProblem(user.username),
    };
    setProblems(found);
    setTaken(false);
    const first = (['email', 'password', 'username'] as const).find((name) => found[name]);
    if (first) form.current?.querySelector<HTMLInputElement>(`[name="${first}"]`)?.focus();
    else void register(user);
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
        error={taken ? texts.exist : problems.email}
        attempt={problems.attempt}
        toasted={taken}
        aria-required
      />
      <PasswordField
        label={messages.password}
        name="password"
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        aria-invalid={(problems.password && !isGoodPassword(password)) || undefined}
        describedBy={rulesId}
        aria-required
      />
      <PasswordRules id={rulesId} password={password} insist={problems.password ?? false} />
      <Field
        label={messages.username}
        type="text"
        name="username"
        autoComplete="nickname"
        autoCapitalize="none"
        spellCheck={false}
        dir="auto"
        value={username}
        onChange={(event) => setUsername(event.target.value)}
        error={problems.username}
        attempt={problems.attempt}
        aria-required
      />
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
