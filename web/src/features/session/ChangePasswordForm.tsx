import { useState } from 'react';
import { changePassword, failureCode, type Connections } from '../../api';
import { cache } from '../../api/cache';
import { endRefusedSession } from '../../api/endRefusedSession';
import { keys } from '../../api/keys';
import { goToConfirm } from '../../api/oidc';
import { useConfirmingProvider } from '../../api/useConnections';
import { CurrentPassword } from '../../components/CurrentPassword';
import { forgetApiKey } from '../../lib/apiKey';
import type { Account } from '../../lib/owner';
import { startSession, username } from '../../lib/session';
import { useForm } from '../../lib/useForm';
import { useHere } from '../../lib/useHere';
import { failureText } from './failureText';
import { hashPassword } from './hash';
import { account as texts, login, messages } from './messages';
import { NewPasswordField } from './NewPasswordField';
import { PasswordForm } from './PasswordForm';
import { RevokeOption } from './RevokeOption';
import { newPasswordProblem } from './rules';

/** A form for a new password. The session continues here and ends everywhere else. */
export function ChangePasswordForm({ account }: { account: Account }) {
  const [oldPassword, setOldPassword] = useState('');
  const provider = useConfirmingProvider(account);
  const [newPassword, setNewPassword] = useState('');
  const [revoke, setRevoke] = useState(false);
  const [done, setDone] = useState('');
  const isHere = useHere();

  const form = useForm({
    check: () => {
      setDone('');
      return {
        password: oldPassword === '' && provider === undefined ? messages.noPassword : undefined,
        'new-password': newPasswordProblem(newPassword),
      };
    },
    submit: async () => {
      const { password, salt } = await hashPassword(newPassword);
      const session = await changePassword(account, {
        password: provider === undefined ? oldPassword : null,
        new_password: password,
        new_salt: salt,
        revoke,
      });
      if (revoke) forgetApiKey();
      cache.setQueryData<Connections>(
        keys.connections(account),
        (known) => known && { ...known, has_password: true },
      );
      startSession(session, username());
      if (!isHere()) return;
      setOldPassword('');
      setNewPassword('');
      setRevoke(false);
      setDone(texts.passwordChanged);
    },
    explain: (error) => {
      if (endRefusedSession(account, error)) return {};
      if (failureCode(error) === 'confirm') return { password: messages.confirm };
      return failureCode(error) === 'incorrect' ? { password: login.incorrect } : undefined;
    },
    failureText,
    staysOpen: true,
  });

  return (
    <PasswordForm form={form} submit={texts.changePassword}>
      <CurrentPassword
        label={messages.currentPassword}
        value={oldPassword}
        onValue={setOldPassword}
        error={form.problems.password}
        attempt={form.attempt}
        provider={provider}
        onConfirm={() => goToConfirm(account, failureText)}
      />
      <NewPasswordField
        label={messages.newPassword}
        name="new-password"
        value={newPassword}
        onValue={setNewPassword}
        insist={form.problems['new-password'] ?? false}
      />
      <p>{texts.codesDeleted}</p>
      <RevokeOption checked={revoke} onChange={setRevoke} />
      <p role="status">{done}</p>
    </PasswordForm>
  );
}
