import { useState, type ReactNode, type SubmitEvent } from 'react';
import { failureCode } from '../../api';
import { Button } from '../../components/Button';
import { Dialog, DialogActions } from '../../components/Dialog';
import { PasswordField } from '../../components/Field';
import { actions } from '../../components/messages';
import { endSessionOf, type Account } from '../../lib/owner';
import { useHere } from '../../lib/useHere';
import styles from './Form.module.css';
import { failureText } from './failureText';
import { login, messages } from './messages';

interface PasswordDialogProps {
  account: Account;
  title: string;
  /** What the dialog is about, and further fields. */
  children?: ReactNode;
  submit: string;
  /** Does it with the password. Rejects with a Failure, which the dialog explains. */
  action: (password: string) => Promise<void>;
  /** Text for a failure that the action knows better; undefined for others. */
  explain?: (error: unknown) => string | undefined;
  onClose: () => void;
}

/** Asks for the password in a dialog, before something that a stolen session must not do. */
export function PasswordDialog({
  account,
  title,
  children,
  submit,
  action,
  explain,
  onClose,
}: PasswordDialogProps) {
  const [password, setPassword] = useState('');
  const [wrong, setWrong] = useState<{ text: string; attempt: number }>();
  const [failed, setFailed] = useState('');
  const [busy, setBusy] = useState(false);
  const isHere = useHere();

  const point = (text: string) =>
    setWrong((known) => ({ text, attempt: (known?.attempt ?? 0) + 1 }));

  const act = async () => {
    setBusy(true);
    setFailed('');
    setWrong(undefined);
    try {
      await action(password);
    } catch (error) {
      const code = failureCode(error);
      if (code === 'invalid-token' || code === 'no-logged') {
        endSessionOf(account);
        return;
      }
      const explained = explain?.(error);
      if (code !== 'incorrect' && explained === undefined) console.error(error);
      if (!isHere()) return;
      setBusy(false);
      if (code === 'incorrect') point(login.incorrect);
      else setFailed(explained ?? failureText(error));
    }
  };

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    if (password === '') point(messages.noPassword);
    else void act();
  };

  return (
    <Dialog title={title} onClose={onClose}>
      <form className={styles.form} onSubmit={onSubmit} noValidate>
        {children}
        <PasswordField
          label={messages.password}
          name="password"
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
          error={wrong?.text}
          attempt={wrong?.attempt}
          aria-required
        />
        <p className={styles.failed} role="alert">
          {failed}
        </p>
        <DialogActions>
          <Button type="submit" variant="primary" busy={busy}>
            {submit}
          </Button>
          <Button onClick={onClose}>{actions.cancel}</Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
