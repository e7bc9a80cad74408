import { useState } from 'react';
import { Link, Navigate, useLocation, useNavigate } from 'react-router-dom';
import { Page } from '../components/Page';
import { LoginForm } from '../features/session/LoginForm';
import { paths } from '../lib/paths';
import { useSession } from '../lib/session';

export default function LoginPage() {
  const session = useSession();
  const navigate = useNavigate();
  const { state } = useLocation() as { state: { email?: unknown } | null };
  const [leaving, setLeaving] = useState(false);

  // A visitor who is logged in already has nothing to do here; one who logs in here goes home.
  if (session && !leaving) return <Navigate to={paths.account} replace />;

  return (
    <Page title="Login" description="Log in to Atajo to see your links and their views.">
      <h1>Login</h1>
      <LoginForm
        initialEmail={typeof state?.email === 'string' ? state.email : ''}
        onLogin={() => {
          setLeaving(true);
          void navigate(paths.home);
        }}
      />
      <p>
        No account yet? <Link to={paths.register}>Register</Link>
      </p>
    </Page>
  );
}
