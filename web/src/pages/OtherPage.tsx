import { useParams } from 'react-router-dom';
import { addressedCode } from '../lib/codes';
import { NotFoundPage } from './NotFoundPage';
import RedirectPage from './RedirectPage';

/**
 * Page of any path without a route: a short URL with a slash after its code, such as `/<code>/)`, or
 * not found.
 */
export default function OtherPage() {
  const { '*': path = '' } = useParams();
  return addressedCode(path) === null ? <NotFoundPage /> : <RedirectPage />;
}
