import { useState, type ReactNode } from 'react';
import { failureCode } from '../../api';
import { endRefusedSession } from '../../api/endRefusedSession';
import { goToConfirm } from '../../api/oidc';
import { useConfirmingProvider } from '../../api/useConnections';
import { Button } from '../../components/Button';
import { Dialog } from '../../components/Dialog';
import { CurrentPassword } from '../../components/CurrentPassword';
import { actions } from '../../components/messages';
import type { Account } from '../../lib/owner';
import { useForm } from '../../lib/useForm';
import { failureText } from './failureText';
import { login, messages } from './messages';
import { PasswordForm } from './PasswordForm';

interface PasswordDialogProps {
  account: Account;
  title: string;
  /** What the dialog is about, and further fields. */
  children?: ReactNode;
  submit: string;
  /**
   * Does it with the password, null if the account has none. Rejects with a Failure, which the
   * dialog explains.
   */
  action: (password: string | null) => Promise<void>;
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
  const provider = useConfirmingProvider(account);
  const form = useForm({
    check: () => ({
      password: password === '' && provider === undefined ? messages.noPassword : undefined,
    }),
    submit: () => action(provider === undefined ? password : null),
    explain: (error) => {
      if (endRefusedSession(account, error)) return {};
      if (failureCode(error) === 'incorrect') return { password: login.incorrect };
      if (failureCode(error) === 'confirm') return { password: messages.confirm };
      return explain?.(error);
    },
    failureText,
  });

  return (
    <Dialog title={title} onClose={onClose}>
      <PasswordForm
        form={form}
        submit={submit}
        cancel={<Button onClick={onClose}>{actions.cancel}</Button>}
      >
        {children}
        <CurrentPassword
          label={messages.password}
          value={password}
          onValue={setPassword}
          error={form.problems.password}
          attempt={form.attempt}
          provider={provider}
          onConfirm={() => goToConfirm(account, failureText)}
        />
      </PasswordForm>
    </Dialog>
  );
}
