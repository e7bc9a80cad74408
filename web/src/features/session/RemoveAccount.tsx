import { useState, type SubmitEvent } from 'react';
import { failureCode, removeAccount } from '../../api';
import { Button } from '../../components/Button';
import { Dialog, DialogActions } from '../../components/Dialog';
import { PasswordField } from '../../components/Field';
import { tellDone } from '../../components/toast';
import { endSessionOf, type Account } from '../../lib/owner';
import { endSession, forgetUsername } from '../../lib/session';
import { useHere } from '../../lib/useHere';
import styles from './Form.module.css';
import { accountMessages, loginMessages, tryAgain } from './messages';

interface RemoveAccountProps {
  account: Account;
  onRemoved: () => void;
}

/** The account goes for good: that is said, and asks for its password. */
export function RemoveAccount({ account, onRemoved }: RemoveAccountProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <p>{accountMessages.goes}</p>
      <div>
        <Button onClick={() => setOpen(true)}>Remove account</Button>
      </div>
      {open && (
        <Dialog title="Remove your account?" onClose={() => setOpen(false)}>
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
      // First to another page: on this one the end of a session leads elsewhere.
      if (isHere()) onRemoved();
      endSession();
      tellDone(accountMessages.removed);
    } catch (error) {
      const code = failureCode(error);
      if (code === 'invalid-token' || code === 'no-logged') {
        endSessionOf(account);
        return;
      }
      if (code !== 'incorrect') console.error(error);
      if (!isHere()) return;
      setBusy(false);
      if (code === 'incorrect') point(loginMessages.incorrect);
      else setFailed(tryAgain(error));
    }
  };

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (busy) return;
    if (password === '') point(accountMessages.noPassword);
    else void remove();
  };

  return (
    <form className={styles.form} onSubmit={onSubmit} noValidate>
      <p>{accountMessages.goes}</p>
      <PasswordField
        label="Password"
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
          Remove for good
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </DialogActions>
    </form>
  );
}
