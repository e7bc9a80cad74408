import { useEffect } from 'react';
import { Navigate, useLocation } from 'react-router-dom';
import { showToast } from '../components/toast';
import { elsewhere } from '../features/shorten/elsewhereMessages';
import { paths } from '../lib/paths';
import { sharedLink } from '../lib/shared';

/** Opens the shortener with the link that another page or app shares. Shortens nothing itself. */
export default function SharePage() {
  const { search, hash } = useLocation();
  const link = sharedLink(search, hash);
  useEffect(() => {
    if (link === null) showToast(elsewhere.nothingShared);
  }, [link]);
  return <Navigate to={paths.shortener} replace state={{ link }} />;
}
