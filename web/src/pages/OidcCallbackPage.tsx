import { useEffect, useState } from 'react';
import { Link, useLocation, useNavigate } from 'react-router-dom';
import { Page } from '../components/Page';
import { FinishLogin } from '../features/session/FinishLogin';
import { callback } from '../features/session/oidcMessages';
import { providerName } from '../lib/oidc';
import { paths } from '../lib/paths';

/** The page to which the OpenID Connect provider returns. */
export default function OidcCallbackPage() {
  const navigate = useNavigate();
  const { search } = useLocation();
  const [response] = useState(() => new URLSearchParams(search));

  // The code must stay neither in the address bar nor in the history.
  useEffect(() => {
    if (search !== '') void navigate(paths.oidcCallback, { replace: true });
  }, [search, navigate]);

  return (
    <Page title={callback.title} description={callback.description}>
      <h1>{callback.heading(providerName())}</h1>
      <FinishLogin response={response} onDone={(to) => void navigate(to, { replace: true })} />
      <p>
        <Link to={paths.login}>{callback.again}</Link>
      </p>
    </Page>
  );
}
