/**
 * How the built page loads the parts of it that come later: the build puts `bring` around each
 * import(). A browser may remember for as long as the document lives that a module did not load
 * (Firefox and Safari do, Chromium did before 156). So the files are fetched first, and imported
 * from the browser's cache once all of them have come: what did not come can be tried again under
 * its own name, and no module is ever there twice.
 */

/** Milliseconds one file may take. */
const TIMEOUT = 70_000;
/** Milliseconds within which a document that was loaded is not loaded anew by itself. */
const SETTLED = 60_000;
/** In sessionStorage from when a document loads itself anew until a part has come after that. */
const MARK = 'loadedAnew';

/** What was asked for will not come in this document: it is gone from the server, or broken. */
export class Outdated extends Error {
  override readonly name = 'Outdated';
}

const brought = new Map<string, Promise<void>>();
/** This document was opened by one that loaded itself anew. */
const isAnew = hasMark();

/** Imports by `load` once its `files` (paths below the origin) are there; a failure can be tried again. */
export async function bring<T>(load: () => Promise<T>, files: string[] = []): Promise<T> {
  await Promise.all(files.map((file) => once(new URL(file, location.origin).href)));
  let part: T;
  try {
    part = await load();
  } catch (error) {
    throw new Outdated('A part of the page was not imported', { cause: error });
  }
  removeMark();
  return part;
}

/**
 * Loads the document anew after `keep`, but not one that is new itself or came in this way: what
 * stays gone would be asked for without end. Answers whether it does.
 */
export function loadAnew(keep?: () => void): boolean {
  if (isAnew || performance.now() < SETTLED || !setMark()) return false;
  keep?.();
  location.reload();
  return true;
}

function once(url: string): Promise<void> {
  const known = brought.get(url);
  if (known) return known;
  const fresh = isInDocument(url) ? Promise.resolve() : fetchFile(url);
  brought.set(url, fresh);
  fresh.catch(() => brought.delete(url));
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

/** From the browser's cache. */
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

function hasMark(): boolean {
  try {
    return sessionStorage.getItem(MARK) !== null;
  } catch {
    return false; // Without storage no document loads itself anew.
  }
}

/** Answers whether the next document will find it. */
function setMark(): boolean {
  try {
    sessionStorage.setItem(MARK, '');
    return true;
  } catch {
    return false;
  }
}

function removeMark(): void {
  try {
    sessionStorage.removeItem(MARK);
  } catch {
    // There is no storage, and so nothing in it.
  }
}
