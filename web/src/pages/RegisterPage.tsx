import { Link, Navigate, useLocation, useNavigate } from 'react-router-dom';
import { Page } from '../components/Page';
import { register } from '../features/session/messages';
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
    <Page title={register.title} description={register.description}>
      <h1>{register.title}</h1>
      <RegisterForm
        onRegistered={(email) => void navigate(paths.login, { state: { email, from } })}
      />
      <p>
        {register.hasAccount}{' '}
        <Link to={paths.login} state={{ from }}>
          {register.logIn}
        </Link>
      </p>
    </Page>
  );
}
