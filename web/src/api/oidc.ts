/** Calls of logins with OpenID Connect, separate from the other calls, which load with every page. */
import { Failure, lazyCall } from './index';
import type { Account } from '../lib/owner';
import { keepLogin, newSecret, type BegunLogin } from '../lib/oidc';

const beginOidc = lazyCall('beginOidc');
export const finishOidc = lazyCall('finishOidc');
export const confirmByProvider = lazyCall('confirmByProvider');
export const linkOidc = lazyCall('linkOidc');
export const listConnections = lazyCall('listConnections');
export const removeConnection = lazyCall('removeConnection');

/** Leaves for the provider, which confirms the session of an account and returns to this page. */
export async function leaveToConfirm({ token }: Account): Promise<void> {
  const { pathname, search, hash } = location;
  await goToProvider({ to: pathname + search + hash, token, invitation: null });
}

/** Calls `leaveToConfirm`. Resolves with the text of a failure. */
export async function goToConfirm(
  account: Account,
  failureText: (error: unknown) => string,
): Promise<string> {
  try {
    await leaveToConfirm(account);
    return '';
  } catch (error) {
    console.error(error);
    return failureText(error);
  }
}

/** Leaves for the provider. Resolves when the browser is about to go. */
export async function goToProvider(login: Omit<BegunLogin, 'secret'>): Promise<void> {
  const secret = newSecret();
  const url = await beginOidc({ secret, token: login.token });
  if (!/^https?:/.test(url)) throw new Failure('beginOidc', 'failed', 'the URL is of another kind');
  keepLogin({ ...login, secret });
  location.assign(url);
}
