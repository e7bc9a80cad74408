/** A link that was asked for without a network. It is kept until the server has answered. */
import { readItem, removeItem, writeItem } from './storage';

export interface Pending {
  url: string;
  /** The code of all attempts, so that one that got through is not repeated with another code. */
  code: string;
  /** Whether the user chose the code. */
  isCustom: boolean;
  /** undefined for that of the public URL. */
  domain?: string | undefined;
  /** Who asked for it, see `nameOf`. */
  owner: string;
}

const KEY = 'pendingLink';

export function keepPending(pending: Pending): void {
  writeItem(KEY, JSON.stringify(pending));
}

export function forgetPending(): void {
  removeItem(KEY);
}

export function readPending(): Pending | null {
  try {
    const kept = JSON.parse(readItem(KEY) ?? 'null') as Partial<Pending> | null;
    const { url, code, domain, owner, isCustom } = kept ?? {};
    const isValid = [url, code, owner].every((part) => typeof part === 'string');
    return isValid ? ({ url, code, domain, owner, isCustom: isCustom === true } as Pending) : null;
  } catch {
    return null; // Not valid JSON. The next link overwrites it.
  }
}

/** Returns a name of an owner, by which another account is recognized. Guests have no token. */
export function nameOf({ token }: { kind: string; token?: string }): string {
  return token?.slice(-8) ?? 'browser';
}
