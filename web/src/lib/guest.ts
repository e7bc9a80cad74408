/**
 * The guest key, by which this browser owns the links created in it without an account.
 *
 * It is stored in localStorage and leaves the browser only in calls. The other items belong to this
 * key and are deleted with it.
 */
import { base64url } from './base64url';
import { keepItem, readItem, removeItem, writeItem } from './storage';

const KEY = 'guestKey';
/** Storage key of the number of the key's links, as of the last response of the server. */
const COUNT = 'guestLinks';
/** Storage key of the guest key whose links the user declined to add to an account. */
const DECLINED = 'guestDeclined';
const BYTES = 32;
/**
 * 32 bytes in base64url: the last of the 43 characters encodes four bits, followed by two zero
 * bits.
 */
const SHAPE = /^[\w-]{42}[AEIMQUYcgkosw048]$/;

const listeners = new Set<() => void>();

/** Returns the guest key, or null if there is none. */
export function guestKey(): string | null {
  const stored = readItem(KEY);
  return stored !== null && SHAPE.test(stored) ? stored : null;
}

/**
 * Returns the guest key, and creates it if there is none. Returns null if the browser does not
 * store it.
 */
export function makeGuestKey(): string | null {
  const known = guestKey();
  if (known !== null) return known;
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return putGuestKey(base64url(bytes));
}

/** Stores a key if there is none. Returns the key that is then stored. */
export function putGuestKey(key: string): string | null {
  if (guestKey() === null && keepItem(KEY, key)) tell();
  return guestKey();
}

/** Deletes a key, but not another one that is stored by now. */
export function dropGuestKey(key: string): void {
  if (guestKey() !== key) return;
  for (const item of [KEY, COUNT, DECLINED]) removeItem(item);
  tell();
}

/** Returns how many links the key owned according to the last response. */
export function guestLinks(): number {
  const count = Number(readItem(COUNT));
  return guestKey() !== null && Number.isSafeInteger(count) && count > 0 ? count : 0;
}

export function rememberGuestLinks(count: number): void {
  if (count !== guestLinks()) writeItem(COUNT, String(count));
}

/** Stores that the user declined to add the links of this key to an account. */
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

/**
 * Calls `listener` when the key is stored, deleted or declined, in any tab. Returns a function that
 * unsubscribes.
 */
export function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener('storage', onStorage);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener('storage', onStorage);
  };
}
