import { useEffect } from 'react';
import { Link, Navigate, useLocation, useNavigate } from 'react-router-dom';
import { Page } from '../components/Page';
import { register } from '../features/session/messages';
import { ProviderButton } from '../features/session/ProviderButton';
import { RegisterForm } from '../features/session/RegisterForm';
import { registration } from '../lib/config';
import { paths } from '../lib/paths';
import { useEarlierSession } from '../lib/session';

const INVITATION = /^#invitation=([\w.~-]+)$/;

/**
 * Returns the token of the invitation that the URL has in its fragment, and moves it into the state
 * of the history's entry. There it survives a reload, but neither the list of visited pages nor a
 * copied URL has it.
 */
function useInvitation(): string | undefined {
  const { hash, state } = useLocation() as {
    hash: string;
    state: { invitation?: unknown } | null;
  };
  const navigate = useNavigate();
  const opened = INVITATION.exec(hash)?.[1];
  useEffect(() => {
    if (opened === undefined) return;
    void navigate(paths.register, { replace: true, state: { ...state, invitation: opened } });
  }, [opened, state, navigate]);
  return opened ?? (typeof state?.invitation === 'string' ? state.invitation : undefined);
}

export default function RegisterPage() {
  const session = useEarlierSession();
  const navigate = useNavigate();
  const { state } = useLocation() as { state: { from?: unknown } | null };
  const from = state?.from;
  const invitation = useInvitation();
  const policy = registration();

  if (session) return <Navigate to={paths.account} replace />;

  return (
    <Page title={register.title} description={register.description}>
      <h1>{register.title}</h1>
      {policy === 'open' || invitation !== undefined ? (
        <RegisterForm
          invitation={invitation}
          onRegistered={(email) => void navigate(paths.login, { state: { email, from } })}
        />
      ) : (
        <p>{register[policy]}</p>
      )}
      {policy !== 'closed' && (
        <ProviderButton to={typeof from === 'string' ? from : paths.home} invitation={invitation} />
      )}
      <p>
        {register.hasAccount}{' '}
        <Link to={paths.login} state={{ from }}>
          {register.logIn}
        </Link>
      </p>
    </Page>
  );
}
