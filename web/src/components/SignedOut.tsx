import { Navigate, useLocation } from 'react-router-dom';
import { useSessionEnded } from '../lib/session';
import { paths } from '../lib/paths';

/**
 * Replaces the parts of an account's page that require a login.
 *
 * If the session ended by itself, it redirects to the login page, which says so and leads back
 * here. Otherwise it redirects to the home page.
 */
export function SignedOut() {
  const { pathname, search, hash } = useLocation();
  const ended = useSessionEnded();
  if (!ended) return <Navigate to={paths.home} replace />;
  return <Navigate to={paths.login} replace state={{ from: pathname + search + hash }} />;
}
