import { useOnline } from '../lib/online';

/** Says that what stands on the page may be old, for as long as that is so. */
export function Offline() {
  const online = useOnline();
  return online ? null : <p role="status">You are offline. What you see may be old.</p>;
}
