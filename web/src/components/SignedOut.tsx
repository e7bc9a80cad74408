import { Navigate, useLocation } from 'react-router-dom';
import { useSessionEnded } from '../lib/session';
import { paths } from '../lib/paths';

/**
 * Stands on an account's page in place of what requires a log-in. Where the session
 * ended by itself it leads to the log-in, which says so and leads back here, else home.
 */
export function SignedOut() {
  const { pathname, search, hash } = useLocation();
  const ended = useSessionEnded();
  if (!ended) return <Navigate to={paths.home} replace />;
  return <Navigate to={paths.login} replace state={{ from: pathname + search + hash }} />;
}
