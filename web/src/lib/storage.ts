/**
 * localStorage that never throws. The page keeps in memory what storage refuses, for example when
 * full.
 */
const memory = new Map<string, string>();

// A value that another tab stored is newer than one in memory.
addEventListener('storage', ({ key }) => {
  if (key === null) memory.clear();
  else memory.delete(key);
});

export function readItem(key: string): string | null {
  const kept = memory.get(key);
  if (kept !== undefined) return kept;
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function writeItem(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
    memory.delete(key);
  } catch {
    // An older value must not come back when the page is reloaded.
    removeItem(key);
    memory.set(key, value);
  }
}

/** Stores an item that is useful only if it persists. Returns whether it was stored. */
export function keepItem(key: string, value: string): boolean {
  memory.delete(key);
  try {
    localStorage.setItem(key, value);
    return localStorage.getItem(key) === value;
  } catch {
    return false;
  }
}

export function removeItem(key: string): void {
  memory.delete(key);
  try {
    localStorage.removeItem(key);
  } catch {
    // Without storage there is nothing to remove.
  }
}
