/**
 * The session, which is stored in localStorage and observed here.
 *
 * A change in this tab, a change in another tab and the expiry all notify the pages in the same
 * way.
 */
import { useState, useSyncExternalStore } from 'react';
import { forgetApiKey } from './apiKey';
import { forgetPending } from './pendingLink';
import { readItem, removeItem, writeItem } from './storage';

export interface Session {
  token: string;
  /** Epoch milliseconds of this browser's clock. */
  expirationTimestamp: number;
}

const TOKEN_KEY = 'userToken';
const NAME_KEY = 'username';
const DEVICE_KEY = 'device';
const ADMINISTRATOR_KEY = 'administrator';
/**
 * Storage key of the last session: the end of a token that the server accepted, or that it ended.
 */
const LAST_KEY = 'lastSession';
const ENDED = 'ended';
/** Number of characters that distinguish a token from others. */
const SUFFIX_LENGTH = 8;
/** Maximum characters of a device token that the server accepts. */
const MAX_DEVICE_TOKEN = 1_000;
const MAX_TIMER = 2 ** 31 - 1;

const listeners = new Set<() => void>();
let begunHere: string | undefined;
let raw: string | null = null;
let current: Session | null = null;
let expiry: ReturnType<typeof setTimeout> | undefined;

/**
 * Starts a session. `administrator` is whether its account is one; a session that replaces another
 * of the account keeps that.
 */
export function startSession(
  { token, expirationTimestamp }: Session,
  username: string,
  administrator = isAdministrator(),
): void {
  begunHere = token;
  if (administrator) writeItem(ADMINISTRATOR_KEY, 'yes');
  else removeItem(ADMINISTRATOR_KEY);
  confirmSession(token);
  writeItem(TOKEN_KEY, JSON.stringify({ token, expirationTimestamp }));
  writeItem(NAME_KEY, username);
  refresh();
}

/** Ends the session here. `api/logOut.ts` also ends it on the server. */
export function endSession(): void {
  removeItem(LAST_KEY);
  removeItem(TOKEN_KEY);
  removeItem(ADMINISTRATOR_KEY);
  // The next user of this browser must not see it.
  forgetPending();
  refresh();
}

/** Stores that the server accepted a token. If the server later refuses it, a session has ended. */
export function confirmSession(token: string): void {
  const suffix = token.slice(-SUFFIX_LENGTH);
  if (readItem(LAST_KEY) !== suffix) writeItem(LAST_KEY, suffix);
}

/** Ends the session whose token the server refused, but not a newer session. */
export function refuseSession(token: string): void {
  if (token !== currentSession()?.token) return;
  // Write this before the token is removed: other tabs read it when they notice the removal.
  if (readItem(LAST_KEY) === token.slice(-SUFFIX_LENGTH)) writeItem(LAST_KEY, ENDED);
  else removeItem(LAST_KEY);
  removeItem(TOKEN_KEY);
  refresh();
}

/**
 * Whether the last session ended by itself: it expired, or the server no longer accepted its token.
 *
 * A token that the server never accepted was no session, and logging out does not count.
 */
export function hasSessionEnded(): boolean {
  return currentSession() === null && readItem(LAST_KEY) === ENDED;
}

/** Stores the device token of a login in this browser. It outlives the session. */
export function rememberDevice(token: string): void {
  if (token !== '') writeItem(DEVICE_KEY, token);
}

export function deviceToken(): string | null {
  const token = readItem(DEVICE_KEY);
  return token === null || token.length > MAX_DEVICE_TOKEN ? null : token;
}

export function rememberUsername(username: string): void {
  writeItem(NAME_KEY, username);
}

export function forgetUsername(): void {
  removeItem(NAME_KEY);
}

export function username(): string {
  return readItem(NAME_KEY) ?? '';
}

/** Whether the account of the session was an administrator when it logged in. */
export function isAdministrator(): boolean {
  return currentSession() !== null && readItem(ADMINISTRATOR_KEY) !== null;
}

/** Returns the current session. Removes an expired or invalid one. */
export function currentSession(): Session | null {
  const stored = readItem(TOKEN_KEY);
  if (stored !== raw) {
    raw = stored;
    current = parse(stored);
  }
  if (current && current.expirationTimestamp <= Date.now()) {
    writeItem(LAST_KEY, ENDED);
    current = null;
  }
  if (stored !== null && !current) {
    removeItem(TOKEN_KEY);
    raw = null;
  }
  return current;
}

/**
 * Returns the session that redirects away from the forms: one that existed when they were opened,
 * or began in another tab.
 *
 * A session that begins here does not redirect, because its form goes on by itself.
 */
export function useEarlierSession(): Session | null {
  const [first] = useState(currentSession);
  const session = useSession();
  return first || session?.token !== begunHere ? session : null;
}

/** Hook of `hasSessionEnded`. */
export function useSessionEnded(): boolean {
  return useSyncExternalStore(subscribe, hasSessionEnded, () => false);
}

function useSession(): Session | null {
  return useSyncExternalStore(subscribe, currentSession, () => null);
}

function parse(stored: string | null): Session | null {
  if (stored === null) return null;
  try {
    return toSession(JSON.parse(stored));
  } catch {
    return null;
  }
}

/** Returns the session that a parsed value is, null for any other value. */
export function toSession(value: unknown): Session | null {
  if (typeof value !== 'object' || !value) return null;
  const { token, expirationTimestamp } = value as Partial<Session>;
  if (typeof token !== 'string' || token === '') return null;
  if (typeof expirationTimestamp !== 'number' || !Number.isFinite(expirationTimestamp)) return null;
  return { token, expirationTimestamp };
}

function refresh(): void {
  clearTimeout(expiry);
  const session = currentSession();
  if (!session) forgetApiKey();
  if (session && listeners.size > 0) {
    expiry = setTimeout(refresh, Math.min(session.expirationTimestamp - Date.now(), MAX_TIMER));
  }
  for (const listener of [...listeners]) listener();
}

function onStorage({ key }: StorageEvent): void {
  if (key === TOKEN_KEY || key === null) refresh();
}

/**
 * Calls `listener` when the session may have begun or ended. Returns a function that unsubscribes.
 */
export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) {
    addEventListener('storage', onStorage);
    // Timers stop while the machine sleeps: check again when the user comes back.
    addEventListener('focus', refresh);
    document.addEventListener('visibilitychange', refresh);
  }
  refresh();
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    removeEventListener('storage', onStorage);
    removeEventListener('focus', refresh);
    document.removeEventListener('visibilitychange', refresh);
    clearTimeout(expiry);
  };
}
