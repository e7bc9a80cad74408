import { useState } from 'react';
import { Link, Navigate, useLocation, useNavigate } from 'react-router-dom';
import { Page } from '../components/Page';
import { LoginForm } from '../features/session/LoginForm';
import { paths } from '../lib/paths';
import { currentSession } from '../lib/session';

export default function LoginPage() {
  // One that begins later is of a log-in here, which goes home, or of one that was left.
  const [session] = useState(currentSession);
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
