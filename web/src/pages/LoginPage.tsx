import { Link, Navigate, useLocation, useNavigate } from 'react-router-dom';
import { Page } from '../components/Page';
import { LoginForm } from '../features/session/LoginForm';
import { paths } from '../lib/paths';
import { useEarlierSession } from '../lib/session';

export default function LoginPage() {
  const session = useEarlierSession();
  const navigate = useNavigate();
  const { state } = useLocation() as { state: { email?: unknown } | null };

  if (session) return <Navigate to={paths.account} replace />;

  return (
    <Page title="Login" description="Log in to Atajo to see your links and their views.">
      <h1>Login</h1>
      <LoginForm
        initialEmail={typeof state?.email === 'string' ? state.email : ''}
        onLogin={() => void navigate(paths.home)}
      />
      <p>
        No account yet? <Link to={paths.register}>Register</Link>
      </p>
    </Page>
  );
}
