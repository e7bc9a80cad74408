import { useRef, useState } from 'react';
import { failureCode, registerUser } from '../../api';
import { Field } from '../../components/Field';
import { showToast } from '../../components/toast';
import { offerRecoveryCodes } from '../../lib/recoveryOffer';
import { currentSession, rememberUsername } from '../../lib/session';
import { useForm } from '../../lib/useForm';
import { useHere } from '../../lib/useHere';
import { failureText } from './failureText';
import { hashPassword, type HashedPassword } from './hash';
import { messages, register as texts } from './messages';
import { NewPasswordField } from './NewPasswordField';
import { PasswordForm } from './PasswordForm';
import { emailProblem, newPasswordProblem, usernameProblem } from './rules';

interface RegisterFormProps {
  /** The token of an invitation. */
  invitation?: string | undefined;
  onRegistered: (email: string) => void;
}

export function RegisterForm({ invitation, onRegistered }: RegisterFormProps) {
  const hashed = useRef<{ plain: string; made: HashedPassword }>(null);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [username, setUsername] = useState('');
  const [taken, setTaken] = useState(false);
  const isHere = useHere();
  const user = { email: email.trim(), username: username.trim() };

  /** Hashes a password once, so that another attempt sends the same four fields. */
  const hashOnce = async () => {
    if (hashed.current?.plain !== password) {
      hashed.current = { plain: password, made: await hashPassword(password) };
    }
    return hashed.current.made;
  };

  const form = useForm({
    check: () => {
      setTaken(false);
      return {
        email: emailProblem(user.email),
        password: newPasswordProblem(password),
        username: usernameProblem(user.username),
      };
    },
    submit: async () => {
      await registerUser({ ...user, ...(await hashOnce()), ...(invitation && { invitation }) });
      offerRecoveryCodes();
      // Keep the name of a user who has logged in meanwhile.
      if (!currentSession()) rememberUsername(user.username);
      if (isHere()) onRegistered(user.email);
    },
    explain: (error) => {
      const code = failureCode(error);
      if (code === 'closed') return texts.closed;
      // The policy may have changed since the page was loaded.
      if (code === 'invitation')
        return invitation ? `${texts.invite} ${texts.invitation}` : texts.invite;
      if (code !== 'exist') return undefined;
      if (isHere()) {
        showToast(texts.exist);
        setTaken(true);
      }
      return {};
    },
    failureText,
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
        error={taken ? texts.exist : form.problems.email}
        attempt={form.attempt}
        toasted={taken}
        aria-required
      />
      <NewPasswordField
        label={messages.password}
        name="password"
        value={password}
        onValue={setPassword}
        insist={form.problems.password ?? false}
      />
      <Field
        label={messages.username}
        type="text"
        name="username"
        autoComplete="nickname"
        autoCapitalize="none"
        spellCheck={false}
        dir="auto"
        value={username}
        onChange={(event) => setUsername(event.target.value)}
        error={form.problems.username}
        attempt={form.attempt}
        aria-required
      />
    </PasswordForm>
  );
}
