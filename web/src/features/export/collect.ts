/** Reads all links of an account, page by page. */
import {
  Failure,
  failureCode,
  showLink,
  showLinks,
  type FormerAddress,
  type Link,
  type LinkPage,
  type LinkQuery,
} from '../../api';
import type { Account } from '../../lib/owner';
import { inParallel } from '../../lib/parallel';

/** Every link is in one of these two lists. */
const LISTS = [null, 'removed'] as const;
/** How often they are gone through where links keep moving from one to the other. */
const MOST_PASSES = 3;
const TRIES = 5;
const FIRST_WAIT = 1_000;
/** Calls at a time. */
const PARALLEL = 4;

export interface Progress {
  read: number;
  total: number;
}

/**
 * Passes every link to `onLinks`, once and in the order of the lists. A link that moves from one list
 * to the other meanwhile is passed where it was seen first: where it was in neither when that was
 * read, there are more links than were seen, and both are gone through again. Rejects once the signal
 * is aborted.
 */
export async function collect(
  account: Account,
  signal: AbortSignal,
  onLinks: (links: Link[]) => void | Promise<void>,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  const seen = new Set<string>();
  for (let pass = 1; pass <= MOST_PASSES; pass += 1) {
    const before = seen.size;
    const total = await readBoth();
    if (seen.size >= total || seen.size === before) break;
  }

  /** Goes through both lists; answers how many links there are then. */
  async function readBoth(): Promise<number> {
    let before = 0;
    let total = 0;
    for (const state of LISTS) {
      let cursor: string | null = null;
      before += total;
      do {
        const page = await ask({ state }, cursor);
        const fresh = page.links.filter(({ code }) => !seen.has(code));
        for (const { code } of fresh) seen.add(code);
        await onLinks(fresh);
        ({ cursor, total } = page);
        onProgress({ read: seen.size, total: Math.max(before + total, seen.size) });
      } while (cursor !== null);
    }
    // What the second list said is new; the first one's total is as old as its last page.
    return total + (await ask({ state: LISTS[0], limit: 1 }, null)).total;
  }

  function ask(
    query: Pick<LinkQuery, 'state' | 'limit'>,
    cursor: string | null,
  ): Promise<LinkPage> {
    return patiently(signal, () =>
      showLinks(account, { text: '', order: 'newest', ...query }, cursor, { signal }),
    );
  }
}

/** The earlier destinations of the links that have some, by code. */
export async function collectHistories(
  account: Account,
  links: readonly Link[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, FormerAddress[]>> {
  const histories = new Map<string, FormerAddress[]>();
  const changed = links.filter(({ changed_at }) => changed_at !== null);
  await inParallel(changed, PARALLEL, async ({ code }) => {
    try {
      const { history } = await patiently(signal, () => showLink(account, code, { signal }));
      histories.set(code, history);
    } catch (error) {
      // It is gone since it was listed.
      if (failureCode(error) !== 'no-exist') throw error;
    }
  });
  return histories;
}

/** Asks again where that may help: as late as the server wants it, else after a while. */
async function patiently<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      signal.throwIfAborted();
      const code = failureCode(error);
      if (tries === TRIES || (code !== 'failed' && code !== 'resource-exhausted')) throw error;
      const asked = error instanceof Failure ? error.retryAfter : undefined;
      await wait(asked ?? FIRST_WAIT * 2 ** (tries - 1), signal);
    }
  }
}

function wait(duration: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, duration);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
