import { Link, Navigate, useLocation, useNavigate } from 'react-router-dom';
import { Page } from '../components/Page';
import { LoginForm } from '../features/session/LoginForm';
import { login } from '../features/session/messages';
import { ProviderButton } from '../features/session/ProviderButton';
import { SessionEnded } from '../features/session/SessionEnded';
import { registration } from '../lib/config';
import { paths } from '../lib/paths';
import { useEarlierSession } from '../lib/session';

export default function LoginPage() {
  const session = useEarlierSession();
  const navigate = useNavigate();
  const { state } = useLocation() as { state: { email?: unknown; from?: unknown } | null };
  /** The page to go back to, which redirected here because the session had ended. */
  const from = typeof state?.from === 'string' ? state.from : undefined;

  if (session) return <Navigate to={from ?? paths.account} replace />;

  return (
    <Page title={login.title} description={login.description}>
      <h1>{login.title}</h1>
      {from !== undefined && <SessionEnded />}
      <LoginForm
        initialEmail={typeof state?.email === 'string' ? state.email : ''}
        onLogin={() => void navigate(from ?? paths.home, { replace: from !== undefined })}
      />
      <ProviderButton to={from ?? paths.home} />
      <p>
        <Link to={paths.resetPassword}>{login.forgot}</Link>
      </p>
      {registration() === 'open' && (
        <p>
          {login.noAccount}{' '}
          <Link to={paths.register} state={{ from }}>
            {login.register}
          </Link>
        </p>
      )}
    </Page>
  );
}
