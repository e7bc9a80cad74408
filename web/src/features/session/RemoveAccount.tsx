import { useState } from 'react';
import { failureCode, removeAccount } from '../../api';
import { Button } from '../../components/Button';
import { tellDone } from '../../components/toast';
import type { Account } from '../../lib/owner';
import { endSession, forgetUsername } from '../../lib/session';
import { useHere } from '../../lib/useHere';
import { account as texts } from './messages';
import { PasswordDialog } from './PasswordDialog';

interface RemoveAccountProps {
  account: Account;
  onRemoved: () => void;
}

/** Deletes the account, after a dialog that says what is deleted and asks for the password. */
export function RemoveAccount({ account, onRemoved }: RemoveAccountProps) {
  const [open, setOpen] = useState(false);
  const isHere = useHere();

  const remove = async (password: string | null) => {
    await removeAccount(account, password);
    forgetUsername();
    // Leave the page first: on this one, the end of a session redirects elsewhere.
    if (isHere()) onRemoved();
    endSession();
    tellDone(texts.deleted);
  };

  return (
    <>
      <p>{texts.deletion}</p>
      <div>
        <Button onClick={() => setOpen(true)}>{texts.deleteAccount}</Button>
      </div>
      {open && (
        <PasswordDialog
          account={account}
          title={texts.deleteQuestion}
          submit={texts.deletePermanently}
          action={remove}
          explain={(error) =>
            failureCode(error) === 'last-administrator' ? texts.lastAdministrator : undefined
          }
          onClose={() => setOpen(false)}
        >
          <p>{texts.deletion}</p>
        </PasswordDialog>
      )}
    </>
  );
}
