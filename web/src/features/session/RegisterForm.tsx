import { useId, useRef, useState, type SubmitEvent } from 'react';
import { Failure, failureCode, registerUser } from '../../api';
import { Button } from '../../components/Button';
import { Field, PasswordField } from '../../components/Field';
import { showToast } from '../../components/toast';
import { rememberUsername } from '../../lib/session';
import styles from './Form.module.css';
import { hashPassword, type HashedPassword } from './hash';
import { registerMessages, tryAgain } from './messages';
import { PasswordRules } from './PasswordRules';
import { emailProblem, isGoodPassword, usernameProblem } from './rules';

interface Problems {
  email?: string | undefined;
  password?: boolean;
  username?: string | undefined;
}

export function RegisterForm({ onRegistered }: { onRegistered: (email: string) => void }) {
  const rulesId = useId();
  const form = useRef<HTMLFormElement>(null);
  const hashed = useRef<{ plain: string; made: HashedPassword }>(null);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [username, setUsername] = useState('');
  const [problems, setProblems] = useState<Problems>({});
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState('');

  /** The same password is hashed once, so that a second try sends the same four fields. */
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
      rememberUsername(user.username);
      onRegistered(user.email);
    } catch (error) {
      setBusy(false);
      if (failureCode(error) === 'exist') {
        showToast(registerMessages.exist);
        return;
      }
      console.error(error);
      setFailed(tryAgain(error instanceof Failure ? error.retryAfter : undefined));
    }
  };

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    const user = { email: email.trim(), username: username.trim() };
    const found: Problems = {
      email: emailProblem(user.email),
      password: !isGoodPassword(password),
      username: usernameProblem(user.username),
    };
    setProblems(found);
    const first = (['email', 'password', 'username'] as const).find((name) => found[name]);
    if (first) form.current?.querySelector<HTMLInputElement>(`[name="${first}"]`)?.focus();
    else void register(user);
  };

  return (
    <form ref={form} className={styles.form} onSubmit={onSubmit} noValidate>
      <Field
        label="Email"
        type="email"
        name="email"
        autoComplete="email"
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={problems.email}
        aria-required
      />
      <PasswordField
        label="Password"
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
        label="Username"
        type="text"
        name="username"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        dir="auto"
        value={username}
        onChange={(event) => setUsername(event.target.value)}
        error={problems.username}
        aria-required
      />
      <p className={styles.failed} role="alert">
        {failed}
      </p>
      <div>
        <Button type="submit" look="sign" busy={busy}>
          REGISTER
        </Button>
      </div>
    </form>
  );
}
