/**
 * Loads the lazy parts of the built page: the build puts `bring` around each import().
 *
 * A browser may remember a failed module load for the lifetime of the document (Firefox and Safari
 * do, and Chromium did before version 156). The files are therefore fetched first, and imported
 * from the browser's cache once all have arrived. A failed load can be retried under the same URL,
 * and no module ever exists twice.
 */

/** Timeout of a file in milliseconds. */
const TIMEOUT = 70_000;
/** Milliseconds after loading during which a document does not reload itself. */
const MIN_AGE = 60_000;
/**
 * Key in sessionStorage, set when a document reloads itself and removed when a part loads after
 * that.
 */
const RELOADED = 'loadedAnew';

/** A part cannot load in this document: the server no longer has it, or it is broken. */
export class Outdated extends Error {
  override readonly name = 'Outdated';
}

const fetches = new Map<string, Promise<void>>();
/** Whether a document that reloaded itself opened this one. */
const isReloaded = hasReloaded();

/**
 * Fetches `files` (paths below the origin), then imports by `load`. A failure can be retried.
 *
 * Throws Outdated if the server no longer has a file or the import fails.
 */
export async function bring<T>(load: () => Promise<T>, files: string[] = []): Promise<T> {
  await Promise.all(files.map((file) => fetchOnce(new URL(file, location.origin).href)));
  let part: T;
  try {
    part = await load();
  } catch (error) {
    throw new Outdated('A part of the page was not imported', { cause: error });
  }
  removeReloaded();
  return part;
}

/**
 * Reloads the document after calling `keep`. Returns whether it does.
 *
 * Does not reload a new document or one that a reload opened: a part that stays missing would cause
 * endless reloads.
 */
export function reloadOnce(keep?: () => void): boolean {
  if (isReloaded || performance.now() < MIN_AGE || !setReloaded()) return false;
  keep?.();
  location.reload();
  return true;
}

function fetchOnce(url: string): Promise<void> {
  const known = fetches.get(url);
  if (known) return known;
  const fresh = isInDocument(url) ? Promise.resolve() : fetchFile(url);
  fetches.set(url, fresh);
  fresh.catch(() => fetches.delete(url));
  return fresh;
}

function isInDocument(url: string): boolean {
  const files = document.querySelectorAll<HTMLLinkElement | HTMLScriptElement>('link, script');
  return Array.from(files).some((file) => ('src' in file ? file.src : file.href) === url);
}

async function fetchFile(url: string): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT) });
  if (response.status === 404) throw new Outdated(`${url} is gone`);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  await response.arrayBuffer();
  if (url.endsWith('.css')) await addStyles(url);
}

/** Adds a style sheet from the browser's cache. */
function addStyles(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.crossOrigin = '';
    link.onload = () => resolve();
    link.onerror = () => {
      link.remove();
      reject(new Error(`${url} did not load`));
    };
    link.href = url;
    document.head.append(link);
  });
}

function hasReloaded(): boolean {
  try {
    return sessionStorage.getItem(RELOADED) !== null;
  } catch {
    return false; // Without storage, no document reloads itself.
  }
}

/** Returns whether the next document will find the key. */
function setReloaded(): boolean {
  try {
    sessionStorage.setItem(RELOADED, '');
    return true;
  } catch {
    return false;
  }
}

function removeReloaded(): void {
  try {
    sessionStorage.removeItem(RELOADED);
  } catch {
    // Without storage there is nothing to remove.
  }
}
