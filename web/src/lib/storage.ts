/** localStorage that never throws: what it refuses, as a full one does, the page keeps for itself. */
const memory = new Map<string, string>();

// What another tab was able to store is newer than what this one keeps.
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
    // Nothing older may come back when the page is loaded again.
    removeItem(key);
    memory.set(key, value);
  }
}

/** Writes what is of use only where it lasts; answers whether it will. */
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
    // There is no storage, and so nothing in it.
  }
}
