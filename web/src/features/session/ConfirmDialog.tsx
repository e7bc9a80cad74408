import { useState } from 'react';
import { failureCode } from '../../api';
import { confirmSession } from '../../api/administration';
import { endRefusedSession } from '../../api/endRefusedSession';
import { leaveToConfirm } from '../../api/oidc';
import { beginLogin } from '../../api/passkeys';
import { Button } from '../../components/Button';
import type { Account } from '../../lib/owner';
import { useHere } from '../../lib/useHere';
import { askForPasskey, hasPasskeys, webAuthnError } from '../../lib/webAuthn';
import { failureText } from './failureText';
import { confirmation as texts } from './confirmMessages';
import styles from './Form.module.css';
import { PasswordDialog } from './PasswordDialog';

interface ConfirmDialogProps {
  account: Account;
  onConfirmed: () => void;
  onClose: () => void;
}

/** Asks an administrator who logged in a while ago for the password, or for a passkey. */
export function ConfirmDialog({ account, onConfirmed, onClose }: ConfirmDialogProps) {
  return (
    <PasswordDialog
      account={account}
      title={texts.title}
      submit={texts.submit}
      action={async (password) => {
        if (password === null) {
          await leaveToConfirm(account);
          return;
        }
        await confirmSession(account, { password });
        onConfirmed();
      }}
      onClose={onClose}
    >
      <p>{texts.why}</p>
      {hasPasskeys() && <WithPasskey account={account} onConfirmed={onConfirmed} />}
    </PasswordDialog>
  );
}

function WithPasskey({ account, onConfirmed }: Omit<ConfirmDialogProps, 'onClose'>) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState('');
  const isHere = useHere();

  const confirm = async () => {
    setBusy(true);
    setFailed('');
    try {
      const { signal } = new AbortController();
      const credential = await askForPasskey(await beginLogin(), 'optional', signal);
      await confirmSession(account, { credential });
      onConfirmed();
    } catch (error) {
      if (endRefusedSession(account, error)) return;
      const refusal = webAuthnError(error);
      const isWrong = failureCode(error) === 'incorrect';
      if (refusal !== 'NotAllowedError' && !isWrong) console.error(error);
      if (!isHere()) return;
      if (refusal !== '') setFailed(texts.declined);
      else setFailed(isWrong ? texts.wrongPasskey : failureText(error));
    } finally {
      if (isHere()) setBusy(false);
    }
  };

  return (
    <>
      <div>
        <Button busy={busy} onClick={() => void confirm()}>
          {texts.passkey}
        </Button>
      </div>
      <p className={styles.failed} role="alert">
        {failed}
      </p>
    </>
  );
}
