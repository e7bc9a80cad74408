import { useState, type SubmitEvent } from 'react';
import { failureCode, removeAccount } from '../../api';
import { Button } from '../../components/Button';
import { Dialog, DialogActions } from '../../components/Dialog';
import { PasswordField } from '../../components/Field';
import { actions } from '../../components/messages';
import { tellDone } from '../../components/toast';
import { endSessionOf, type Account } from '../../lib/owner';
import { endSession, forgetUsername } from '../../lib/session';
import { useHere } from '../../lib/useHere';
import styles from './Form.module.css';
import { account as texts, failureText, login, messages } from './messages';

interface RemoveAccountProps {
  account: Account;
  onRemoved: () => void;
}

/** Deletes the account, after a dialog that says what is deleted and asks for the password. */
export function RemoveAccount({ account, onRemoved }: RemoveAccountProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <p>{texts.deletion}</p>
      <div>
        <Button onClick={() => setOpen(true)}>{texts.deleteAccount}</Button>
      </div>
      {open && (
        <Dialog title={texts.deleteQuestion} onClose={() => setOpen(false)}>
          <RemoveForm account={account} onRemoved={onRemoved} onClose={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  );
}

function RemoveForm({ account, onRemoved, onClose }: RemoveAccountProps & { onClose: () => void }) {
  const [password, setPassword] = useState('');
  const [wrong, setWrong] = useState<{ text: string; attempt: number }>();
  const [failed, setFailed] = useState('');
  const [busy, setBusy] = useState(false);
  const isHere = useHere();

  const point = (text: string) =>
    setWrong((known) => ({ text, attempt: (known?.attempt ?? 0) + 1 }));

  const remove = async () => {
    setBusy(true);
    setFailed('');
    try {
      await removeAccount(account, password);
      forgetUsername();
      // Leave the page first: on this one, the end of a session redirects elsewhere.
      if (isHere()) onRemoved();
      endSession();
      tellDone(texts.deleted);
    } catch (error) {
      const code = failureCode(error);
      if (code === 'invalid-token' || code === 'no-logged') {
        endSessionOf(account);
        return;
      }
      if (code !== 'incorrect') console.error(error);
      if (!isHere()) return;
      setBusy(false);
      if (code === 'incorrect') point(login.incorrect);
      else setFailed(failureText(error));
    }
  };

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    if (password === '') point(messages.noPassword);
    else void remove();
  };

  return (
    <form className={styles.form} onSubmit={onSubmit} noValidate>
      <p>{texts.deletion}</p>
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
        <Button type="submit" look="sign" busy={busy}>
          {texts.deletePermanently}
        </Button>
        <Button onClick={onClose}>{actions.cancel}</Button>
      </DialogActions>
    </form>
  );
}
