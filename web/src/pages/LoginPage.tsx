import { Link, Navigate, useLocation, useNavigate } from 'react-router-dom';
import { Page } from '../components/Page';
import { LoginForm } from '../features/session/LoginForm';
import { SessionEnded } from '../features/session/SessionEnded';
import { paths } from '../lib/paths';
import { useEarlierSession } from '../lib/session';

export default function LoginPage() {
  const session = useEarlierSession();
  const navigate = useNavigate();
  const { state } = useLocation() as { state: { email?: unknown; from?: unknown } | null };
  /** The owner's page that led here when the session had ended. */
  const from = typeof state?.from === 'string' ? state.from : undefined;

  if (session) return <Navigate to={from ?? paths.account} replace />;

  return (
    <Page title="Login" description="Log in to Atajo to see your links and their views.">
      <h1>Login</h1>
      {from !== undefined && <SessionEnded />}
      <LoginForm
        initialEmail={typeof state?.email === 'string' ? state.email : ''}
        onLogin={() => void navigate(from ?? paths.home, { replace: from !== undefined })}
      />
      <p>
        No account yet?{' '}
        <Link to={paths.register} state={{ from }}>
          Register
        </Link>
      </p>
    </Page>
  );
}
