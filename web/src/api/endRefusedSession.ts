import { endSessionOf, type Account } from '../lib/owner';
import { failureCode } from './failure';

/** Ends the session of an account if a call failed because of it. Returns whether it did. */
export function endRefusedSession(account: Account, error: unknown): boolean {
  const code = failureCode(error);
  if (code !== 'invalid-token' && code !== 'no-logged') return false;
  endSessionOf(account);
  return true;
}
