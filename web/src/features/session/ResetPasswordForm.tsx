import { useState } from 'react';
import { Failure, failureCode } from '../../api';
import { logOut } from '../../api/logOut';
import { resetPassword } from '../../api/recovery';
import { Field } from '../../components/Field';
import { tellDone } from '../../components/toast';
import { deviceToken } from '../../lib/session';
import { useForm } from '../../lib/useForm';
import { useHere } from '../../lib/useHere';
import { failureText } from './failureText';
import { hashPassword } from './hash';
import { messages } from './messages';
import { NewPasswordField } from './NewPasswordField';
import { PasswordForm } from './PasswordForm';
import { reset as texts } from './recoveryMessages';
import { RevokeOption } from './RevokeOption';
import { emailProblem, newPasswordProblem } from './rules';

interface ResetPasswordFormProps {
  initialEmail: string;
  /** The code of a link of the operator, which always revokes API keys and passkeys. */
  initialCode: string;
  onReset: (email: string) => void;
}

/** Sets a forgotten password with a recovery code. */
export function ResetPasswordForm({ initialEmail, initialCode, onReset }: ResetPasswordFormProps) {
  const [email, setEmail] = useState(initialEmail);
  const [code, setCode] = useState(initialCode);
  const [password, setPassword] = useState('');
  const [revoke, setRevoke] = useState(false);
  const isHere = useHere();
  const hasLink = initialCode !== '' && code === initialCode;

  const form = useForm({
    check: () => ({
      email: emailProblem(email.trim()),
      'recovery-code': code.trim() === '' ? texts.noCode : undefined,
      'new-password': newPasswordProblem(password),
    }),
    submit: async () => {
      const hashed = await hashPassword(password);
      await resetPassword({
        email: email.trim(),
        recovery_code: code,
        new_password: hashed.password,
        new_salt: hashed.salt,
        device: deviceToken(),
        revoke,
      });
      // The server ended all sessions of the account. One of another account must log in, too.
      logOut();
      tellDone(texts.done);
      if (isHere()) onReset(email.trim());
    },
    explain: (error) =>
      failureCode(error) === 'incorrect' ? { 'recovery-code': texts.incorrect } : undefined,
    failureText: (error) => {
      const isUnknown = error instanceof Failure && error.code === 'failed';
      return isUnknown ? texts.unknown : failureText(error);
    },
  });

  return (
    <PasswordForm form={form} submit={texts.submit}>
      <Field
        label={messages.email}
        type="email"
        name="email"
        autoComplete="username"
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={form.problems.email}
        attempt={form.attempt}
        aria-required
      />
      <Field
        label={texts.code}
        type="text"
        name="recovery-code"
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        value={code}
        onChange={(event) => setCode(event.target.value)}
        error={form.problems['recovery-code']}
        attempt={form.attempt}
        aria-required
      />
      <NewPasswordField
        label={messages.newPassword}
        name="new-password"
        value={password}
        onValue={setPassword}
        insist={form.problems['new-password'] ?? false}
      />
      {hasLink ? (
        <p>{texts.operatorsLink}</p>
      ) : (
        <RevokeOption checked={revoke} onChange={setRevoke} />
      )}
    </PasswordForm>
  );
}
