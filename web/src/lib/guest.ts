/**
 * The key by which this browser owns the links that were made in it without an account. It lives in
 * localStorage and leaves it in calls alone. What is noted beside it is of this key and goes with it.
 */
import { keepItem, readItem, removeItem, writeItem } from './storage';

const KEY = 'guestKey';
/** How many links the key owned when the server last said so. */
const COUNT = 'guestLinks';
/** The key whose links their person did not want to take along. */
const DECLINED = 'guestDeclined';
const BYTES = 32;
/** 32 bytes in base64url: the last of the 43 characters stands for four bits and two that are 0. */
const SHAPE = /^[\w-]{42}[AEIMQUYcgkosw048]$/;

const listeners = new Set<() => void>();

/** The key, or null where there is none. */
export function guestKey(): string | null {
  const stored = readItem(KEY);
  return stored !== null && SHAPE.test(stored) ? stored : null;
}

/** The key, made now where there is none; null where the browser would not keep it. */
export function makeGuestKey(): string | null {
  const known = guestKey();
  if (known !== null) return known;
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  const text = btoa(String.fromCharCode(...bytes));
  return putGuestKey(text.replaceAll('+', '-').replaceAll('/', '_').replace('=', ''));
}

/** Puts a key where there is none; answers the key that is there then. */
export function putGuestKey(key: string): string | null {
  if (guestKey() === null && keepItem(KEY, key)) tell();
  return guestKey();
}

/** Forgets a key, and not another one that is there since. */
export function dropGuestKey(key: string): void {
  if (guestKey() !== key) return;
  for (const item of [KEY, COUNT, DECLINED]) removeItem(item);
  tell();
}

/** How many links the key owned when that was last known. */
export function guestLinks(): number {
  const count = Number(readItem(COUNT));
  return guestKey() !== null && Number.isSafeInteger(count) && count > 0 ? count : 0;
}

export function rememberGuestLinks(count: number): void {
  if (count !== guestLinks()) writeItem(COUNT, String(count));
}

/** Remembers that the links of this key are not to be taken along. */
export function declineClaim(key: string): void {
  writeItem(DECLINED, key);
  tell();
}

export function isClaimDeclined(key: string): boolean {
  return readItem(DECLINED) === key;
}

function tell(): void {
  for (const listener of [...listeners]) listener();
}

function onStorage({ key }: StorageEvent): void {
  if (key === KEY || key === DECLINED || key === null) tell();
}

/** Calls back when the key has come or gone, or was declined, in whichever tab. */
export function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener('storage', onStorage);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener('storage', onStorage);
  };
}
