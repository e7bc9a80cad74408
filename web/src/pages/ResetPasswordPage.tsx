import { useEffect, useState } from 'react';
import { Link, useLocation, useNavigate } from 'react-router-dom';
import { Page } from '../components/Page';
import { reset } from '../features/session/recoveryMessages';
import { ResetPasswordForm } from '../features/session/ResetPasswordForm';
import { contact } from '../lib/config';
import { paths } from '../lib/paths';

export default function ResetPasswordPage() {
  const navigate = useNavigate();
  const { hash, state } = useLocation() as { hash: string; state: { email?: unknown } | null };
  /** What a link of the operator has in its fragment. */
  const [given] = useState(() => new URLSearchParams(hash.slice(1)));

  // The code must stay neither in the address bar nor in the history.
  useEffect(() => {
    if (hash !== '') void navigate(paths.resetPassword, { replace: true, state });
  }, [hash, navigate, state]);

  const address = contact();
  return (
    <Page title={reset.title} description={reset.description}>
      <h1>{reset.title}</h1>
      <p>{reset.intro}</p>
      <ResetPasswordForm
        initialEmail={given.get('email') ?? (typeof state?.email === 'string' ? state.email : '')}
        initialCode={given.get('code') ?? ''}
        onReset={(email) => void navigate(paths.login, { state: { email } })}
      />
      <p>{reset.noMail(address && <a href={`mailto:${address}`}>{address}</a>)}</p>
      <p>
        {reset.backTo} <Link to={paths.login}>{reset.logIn}</Link>
      </p>
    </Page>
  );
}
