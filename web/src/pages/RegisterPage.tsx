import { Link, Navigate, useLocation, useNavigate } from 'react-router-dom';
import { Page } from '../components/Page';
import { RegisterForm } from '../features/session/RegisterForm';
import { paths } from '../lib/paths';
import { useEarlierSession } from '../lib/session';

export default function RegisterPage() {
  const session = useEarlierSession();
  const navigate = useNavigate();
  const { state } = useLocation() as { state: { from?: unknown } | null };
  const from = state?.from;

  if (session) return <Navigate to={paths.account} replace />;

  return (
    <Page
      title="Register"
      description="Make a free Atajo account to keep your links together and see their views."
    >
      <h1>Register</h1>
      <RegisterForm
        onRegistered={(email) => void navigate(paths.login, { state: { email, from } })}
      />
      <p>
        Already registered?{' '}
        <Link to={paths.login} state={{ from }}>
          Log in
        </Link>
      </p>
    </Page>
  );
}
