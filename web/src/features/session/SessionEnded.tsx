import { useSessionEnded } from '../../lib/session';
import { messages } from './messages';

/** Says why the user must log in again, while that is the case. */
export function SessionEnded() {
  return useSessionEnded() && <p role="alert">{messages.sessionEnded}</p>;
}
