import { useState, type SubmitEvent } from 'react';
import { Failure, failureCode, verifyUser } from '../../api';
import { Button } from '../../components/Button';
import { Field, PasswordField } from '../../components/Field';
import { showToast } from '../../components/toast';
import { startSession } from '../../lib/session';
import styles from './Form.module.css';
import { loginMessages, tryAgain } from './messages';

interface LoginFormProps {
  initialEmail: string;
  /** Called before the session starts, so that the page can step aside for it. */
  onLogin: () => void;
}

export function LoginForm({ initialEmail, onLogin }: LoginFormProps) {
  const [email, setEmail] = useState(initialEmail);
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState<'email' | 'password'>();
  const [failed, setFailed] = useState('');

  const logIn = async () => {
    setBusy(true);
    setFailed('');
    setWrong(undefined);
    try {
      const { token, expirationTimestamp, username } = await verifyUser({
        email: email.trim(),
        password,
      });
      onLogin();
      startSession({ token, expirationTimestamp }, username);
    } catch (error) {
      setBusy(false);
      const code = failureCode(error);
      if (code === 'incorrect' || code === 'no-exist') {
        showToast(loginMessages[code]);
        setWrong(code === 'incorrect' ? 'password' : 'email');
        return;
      }
      console.error(error);
      setFailed(tryAgain(error instanceof Failure ? error.retryAfter : undefined));
    }
  };

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (busy || email.trim() === '' || password === '') return;
    void logIn();
  };

  return (
    <form className={styles.form} onSubmit={onSubmit} noValidate>
      <Field
        label="Email"
        type="email"
        name="email"
        autoComplete="email"
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        aria-invalid={wrong === 'email' || undefined}
      />
      <PasswordField
        label="Password"
        name="password"
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        aria-invalid={wrong === 'password' || undefined}
      />
      <p className={styles.failed} role="alert">
        {failed}
      </p>
      <div>
        <Button type="submit" look="sign" busy={busy}>
          LOGIN
        </Button>
      </div>
    </form>
  );
}
