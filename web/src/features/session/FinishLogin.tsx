import { useEffect, useEffectEvent, useState } from 'react';
import { failureCode, type Login, type OidcLink } from '../../api';
import { confirmByProvider, finishOidc, linkOidc } from '../../api/oidc';
import { PasswordField } from '../../components/Field';
import { Spinner } from '../../components/Spinner';
import { tellDone } from '../../components/toast';
import { providerName, takeLogin, type BegunLogin } from '../../lib/oidc';
import { deviceToken, rememberDevice, startSession } from '../../lib/session';
import { useForm } from '../../lib/useForm';
import { useHere } from '../../lib/useHere';
import { failureText } from './failureText';
import { login, messages, register } from './messages';
import { callback as texts, oidc } from './oidcMessages';
import { PasswordForm } from './PasswordForm';

interface FinishLoginProps {
  /** The provider's response, which the URL had as its query. */
  response: URLSearchParams;
  /** Called with the page to go on to. */
  onDone: (to: string) => void;
}

/** What is left to do: a text for the user, or an account to connect; undefined for nothing. */
type Outcome = string | { begun: BegunLogin; link: OidcLink } | undefined;

/** Ends a login that began at the provider: with a session, or with what hinders it. */
export function FinishLogin({ response, onDone }: FinishLoginProps) {
  const [outcome, setOutcome] = useState<Outcome>();
  const isHere = useHere();
  const name = providerName();

  const begin = (session: Login, to: string) => {
    rememberDevice(session.device);
    startSession(session, session.username, session.isAdministrator);
    if (isHere()) onDone(to);
  };

  const finish = async (): Promise<Outcome> => {
    const begun = takeLogin();
    const code = response.get('code');
    const state = response.get('state');
    if (response.has('error')) return texts.declined(name);
    if (begun === null || code === null || state === null) return texts.refused;
    const { secret, token, to, invitation } = begun;
    const answer = { code, state, iss: response.get('iss'), secret };
    try {
      if (token === null) {
        const result = await finishOidc({ ...answer, invitation, device: deviceToken() });
        if ('link' in result) return { begun, link: result };
        begin(result, to);
      } else {
        await confirmByProvider({ ...answer, token });
        tellDone(texts.confirmed);
        if (isHere()) onDone(to);
      }
      return undefined;
    } catch (error) {
      return explain(error, name);
    }
  };

  const finishOnce = useEffectEvent(finish);
  useEffect(() => {
    void finishOnce().then((found) => {
      if (isHere()) setOutcome(found);
    });
  }, [isHere]);

  if (outcome === undefined) return <Spinner label={texts.waiting} />;
  if (typeof outcome === 'string') return <p role="alert">{outcome}</p>;
  const { begun, link } = outcome;
  return (
    <LinkForm link={link} secret={begun.secret} onLinked={(session) => begin(session, begun.to)} />
  );
}

interface LinkFormProps {
  link: OidcLink;
  secret: string;
  onLinked: (session: Login) => void;
}

/** Asks for the password of the account that is to be connected. */
function LinkForm({ link: { link, email }, secret, onLinked }: LinkFormProps) {
  const [password, setPassword] = useState('');
  const name = providerName();
  const form = useForm({
    check: () => ({ password: password === '' ? messages.noPassword : undefined }),
    submit: async () => onLinked(await linkOidc({ link, secret, password, device: deviceToken() })),
    explain: (error) => {
      switch (failureCode(error)) {
        case 'incorrect':
          return { password: login.incorrect };
        case 'suspended':
          return login.suspended;
        case 'refused':
          return texts.refused;
        default:
          return undefined;
      }
    },
    failureText,
  });
  return (
    <PasswordForm form={form} submit={texts.connect}>
      <p>{texts.link(email, name)}</p>
      <PasswordField
        label={messages.password}
        name="password"
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={form.problems.password}
        attempt={form.attempt}
        aria-required
      />
    </PasswordForm>
  );
}

/** Returns what hinders a login, in one sentence. */
function explain(error: unknown, name: string): string {
  const code = failureCode(error);
  switch (code) {
    case 'refused':
    case 'invalid-token':
    case 'no-logged':
      return texts.refused;
    case 'unverified':
    case 'exist':
      return texts[code](name);
    case 'unavailable':
    case 'off':
      return oidc[code](name);
    case 'suspended':
      return login.suspended;
    case 'closed':
      return register.closed;
    case 'invitation':
      return register.invite;
    default:
      console.error(error);
      return failureText(error);
  }
}
