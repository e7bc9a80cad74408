import { useState, type SubmitEvent } from 'react';
import { failureCode, verifyUser, type Login } from '../../api';
import { Button } from '../../components/Button';
import { Field, PasswordField } from '../../components/Field';
import { showToast } from '../../components/toast';
import { currentSession, deviceToken, rememberDevice, startSession } from '../../lib/session';
import { useHere } from '../../lib/useHere';
import { hasPasskeys } from '../../lib/webAuthn';
import styles from './Form.module.css';
import { failureText } from './failureText';
import { login, messages } from './messages';
import { PasskeyLogin } from './PasskeyLogin';

interface LoginFormProps {
  initialEmail: string;
  onLogin: () => void;
}

export function LoginForm({ initialEmail, onLogin }: LoginFormProps) {
  const [email, setEmail] = useState(initialEmail);
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState<'incorrect' | 'no-exist'>();
  const [failed, setFailed] = useState('');
  const isHere = useHere();

  const begin = (session: Login) => {
    // A user who went on to another page is logged in there, unless a session has begun meanwhile.
    if (!isHere() && currentSession()) return;
    rememberDevice(session.device);
    startSession(session, session.username, session.isAdministrator);
    if (isHere()) onLogin();
  };

  const logIn = async () => {
    setBusy(true);
    setFailed('');
    setWrong(undefined);
    try {
      begin(await verifyUser({ email: email.trim(), password, device: deviceToken() }));
    } catch (error) {
      const code = failureCode(error);
      const named = code === 'incorrect' || code === 'no-exist';
      if (!named && code !== 'suspended') console.error(error);
      if (!isHere()) return;
      setBusy(false);
      if (code === 'suspended') {
        setFailed(login.suspended);
        return;
      }
      if (named) {
        showToast(login[code]);
        setWrong(code);
        return;
      }
      setFailed(failureText(error));
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
        label={messages.email}
        type="email"
        name="email"
        autoComplete={hasPasskeys() ? 'username webauthn' : 'username'}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={wrong === 'no-exist' ? login[wrong] : undefined}
        toasted
      />
      <PasswordField
        label={messages.password}
        name="password"
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={wrong === 'incorrect' ? login[wrong] : undefined}
        toasted
      />
      <p className={styles.failed} role="alert">
        {failed}
      </p>
      <div className={styles.actions}>
        <Button type="submit" variant="primary" busy={busy}>
          {login.submit}
        </Button>
      </div>
      <PasskeyLogin onLogin={begin} />
    </form>
  );
}
