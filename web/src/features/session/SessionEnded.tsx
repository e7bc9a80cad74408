import { useSessionEnded } from '../../lib/session';
import { messages } from './messages';

/** Says why one is asked to log in again, for as long as that is so. */
export function SessionEnded() {
  return useSessionEnded() && <p role="alert">{messages.sessionEnded}</p>;
}
