/**
 * The log-in at the OpenID Connect provider that this tab has begun, for the page to which the
 * provider returns. No other browser has its secret, so nobody can end it elsewhere.
 */
import { base64url } from './base64url';
import { setting } from './config';

export interface BegunLogin {
  /** 43 characters of base64url. */
  secret: string;
  /** The page to go on to. */
  to: string;
  /** The session that the provider confirms; null for a log-in. */
  token: string | null;
  /** The token of an invitation, for a new account. */
  invitation: string | null;
}

const STORAGE_KEY = 'oidc';

/** Returns the name of the provider, '' if there is none. */
export function providerName(): string {
  return setting('atajo-oidc-name');
}

export function newSecret(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

/** Throws if the browser stores nothing: then nobody could end the log-in. */
export function keepLogin(login: BegunLogin): void {
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify(login));
}

/** Returns the log-in, and forgets it: it ends once. */
export function takeLogin(): BegunLogin | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? 'null') as BegunLogin | null;
    sessionStorage.removeItem(STORAGE_KEY);
    return kept;
  } catch {
    return null;
  }
}
