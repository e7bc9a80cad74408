/**
 * The session lives in localStorage; here it is watched. A change in this tab, a change in another
 * one and the passing of its expiry all reach the pages through the same door.
 */
import { useState, useSyncExternalStore } from 'react';
import { readItem, removeItem, writeItem } from './storage';

export interface Session {
  token: string;
  /** Epoch milliseconds of this browser's clock. */
  expirationTimestamp: number;
}

const TOKEN_KEY = 'userToken';
const NAME_KEY = 'username';
const DEVICE_KEY = 'device';
/** What is known of the last session: the end of a token that the server took, or that it ended. */
const LAST_KEY = 'lastSession';
const ENDED = 'ended';
/** Characters of a token that tell it from others. */
const TELLING = 8;
/** Characters the server takes of a mark. */
const LONGEST_MARK = 1_000;
const LONGEST_TIMER = 2 ** 31 - 1;

const listeners = new Set<() => void>();
let begunHere: string | undefined;
let raw: string | null = null;
let current: Session | null = null;
let expiry: ReturnType<typeof setTimeout> | undefined;

export function startSession({ token, expirationTimestamp }: Session, username: string): void {
  begunHere = token;
  confirmSession(token);
  writeItem(TOKEN_KEY, JSON.stringify({ token, expirationTimestamp }));
  writeItem(NAME_KEY, username);
  refresh();
}

/** Ends the session as its person wishes. */
export function endSession(): void {
  removeItem(LAST_KEY);
  removeItem(TOKEN_KEY);
  refresh();
}

/** Notes that the server took a token: when it takes it no more, a session has ended. */
export function confirmSession(token: string): void {
  const mark = token.slice(-TELLING);
  if (readItem(LAST_KEY) !== mark) writeItem(LAST_KEY, mark);
}

/** Ends the session whose token the server refused, and not one begun since. */
export function refuseSession(token: string): void {
  if (token !== currentSession()?.token) return;
  // Before the token goes: the other tabs look here once they see that it went.
  if (readItem(LAST_KEY) === token.slice(-TELLING)) writeItem(LAST_KEY, ENDED);
  else removeItem(LAST_KEY);
  removeItem(TOKEN_KEY);
  refresh();
}

/**
 * Whether the last session ended by itself: its time was over, or the server took its token no
 * more. A token that the server never took was no session, and logging out is no such end.
 */
export function hasSessionEnded(): boolean {
  return currentSession() === null && readItem(LAST_KEY) === ENDED;
}

/** Keeps the mark that a log-in leaves in this browser. It outlives the session. */
export function rememberDevice(mark: string): void {
  if (mark !== '') writeItem(DEVICE_KEY, mark);
}

export function deviceMark(): string | null {
  const mark = readItem(DEVICE_KEY);
  return mark === null || mark.length > LONGEST_MARK ? null : mark;
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

/** The session as it is this moment; one that has run out, or is no session, is removed. */
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
 * The session that leads away from the forms: one that was there when they came, or began in
 * another tab. One that begins here pulls nobody away: its own form goes on by itself.
 */
export function useEarlierSession(): Session | null {
  const [first] = useState(currentSession);
  const session = useSession();
  return first || session?.token !== begunHere ? session : null;
}

/** The same as hasSessionEnded, watched. */
export function useSessionEnded(): boolean {
  return useSyncExternalStore(subscribe, hasSessionEnded);
}

function useSession(): Session | null {
  return useSyncExternalStore(subscribe, currentSession);
}

function parse(stored: string | null): Session | null {
  if (stored === null) return null;
  try {
    const value = JSON.parse(stored) as Partial<Session> | null;
    if (typeof value !== 'object' || !value) return null;
    const { token, expirationTimestamp } = value;
    if (typeof token !== 'string' || token === '') return null;
    if (typeof expirationTimestamp !== 'number' || !Number.isFinite(expirationTimestamp))
      return null;
    return { token, expirationTimestamp };
  } catch {
    return null;
  }
}

function refresh(): void {
  clearTimeout(expiry);
  const session = currentSession();
  if (session && listeners.size > 0) {
    expiry = setTimeout(refresh, Math.min(session.expirationTimestamp - Date.now(), LONGEST_TIMER));
  }
  for (const listener of [...listeners]) listener();
}

/** A timer sleeps with the machine, so coming back to the page looks again. */
function onStorage({ key }: StorageEvent): void {
  if (key === TOKEN_KEY || key === null) refresh();
}

/** Calls back whenever the session may have begun or ended; answers how to stop that. */
export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) {
    addEventListener('storage', onStorage);
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
