/**
 * The API key that this tab has just created, for the samples of the documentation.
 *
 * The server does not store it. The browser forgets it with the tab, with the session and when a key
 * is revoked.
 */
const STORAGE_KEY = 'newApiKey';

export function newApiKey(): string | null {
  try {
    return sessionStorage.getItem(STORAGE_KEY);
  } catch {
    return null;
  }
}

export function rememberApiKey(key: string): void {
  try {
    sessionStorage.setItem(STORAGE_KEY, key);
  } catch {
    // Without storage, the reader pastes the key.
  }
}

export function forgetApiKey(): void {
  try {
    sessionStorage.removeItem(STORAGE_KEY);
  } catch {
    // Without storage there is nothing to remove.
  }
}
