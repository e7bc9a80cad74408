/** Calls about accounts and their passwords. */
import type { Account } from '../../lib/owner';
import { succeed } from '../client';
import { byOwnClock, requestLogin, session, type Login } from './login';
import { OWNER_OUTCOMES } from './shared';

interface NewPassword {
  /** A bcrypt hash, and its salt. */
  new_password: string;
  new_salt: string;
  /** Whether to revoke API keys and passkeys; false by default. */
  revoke?: boolean;
}

export interface Credentials {
  email: string;
  password: string;
  /** Device token of an earlier login in this browser; null requests a first one. */
  device: string | null;
}

export function verifyUser(credentials: Credentials): Promise<Login> {
  return requestLogin('verifyUser', credentials);
}

export async function registerUser(user: {
  email: string;
  password: string;
  salt: string;
  username: string;
  /** The token of an invitation; left out without one. */
  invitation?: string;
}): Promise<void> {
  await succeed('registerUser', user, {}, ['exist', 'invitation', 'closed']);
}

/** Whether API keys and passkeys are revoked. Left out otherwise. */
const ifRevoked = (revoke: boolean) => (revoke ? { revoke } : {});

/**
 * Sets a new password (a hash, with its salt), and revokes API keys and passkeys if wanted. Returns
 * the session that replaces the current one.
 */
export async function changePassword(
  account: Account,
  { revoke = false, ...change }: NewPassword & { password: string | null },
): Promise<{ token: string; expirationTimestamp: number }> {
  const payload = { token: account.token, ...change, ...ifRevoked(revoke) };
  const { data, date } = await succeed('changePassword', payload, session, [
    ...OWNER_OUTCOMES,
    'incorrect',
    'confirm',
  ]);
  return {
    token: data.token,
    expirationTimestamp: byOwnClock(data.expirationTimestamp, date),
  };
}

export async function removeAccount(account: Account, password: string | null): Promise<void> {
  await succeed('removeAccount', { token: account.token, password }, {}, [
    ...OWNER_OUTCOMES,
    'incorrect',
    'last administrator',
    'confirm',
  ]);
}

/**
 * Sets the password of an account by one of its recovery codes, and revokes API keys and passkeys
 * if wanted.
 */
export async function resetPassword({
  revoke = false,
  ...reset
}: NewPassword & {
  email: string;
  recovery_code: string;
  device: string | null;
}): Promise<void> {
  await succeed('resetPassword', { ...reset, ...ifRevoked(revoke) }, {}, ['incorrect']);
}
