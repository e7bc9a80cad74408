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

/** States of the two lists. Every link is in one of them. */
const LISTS = [null, 'removed'] as const;
/** Maximum passes over both lists, if links keep moving between them. */
const MAX_PASSES = 3;
const MAX_ATTEMPTS = 5;
const FIRST_WAIT = 1_000;
/** Maximum concurrent calls. */
const PARALLEL = 4;

export interface Progress {
  read: number;
  total: number;
}

/**
 * Passes every link to `onLinks`, once and in the order of the lists.
 *
 * A link that moves between the lists during a pass is passed where it is first seen. If neither
 * list contained it when read, there are more links than were seen, and both lists are read again.
 * Rejects once the signal is aborted.
 */
export async function collect(
  account: Account,
  signal: AbortSignal,
  onLinks: (links: Link[]) => void | Promise<void>,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  const seen = new Set<string>();
  for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
    const before = seen.size;
    const total = await readBoth();
    if (seen.size >= total || seen.size === before) break;
  }

  /** Reads both lists. Returns the number of all links at the end. */
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
    // The second list's total is new. The first one's total is as old as its last page: request it
    // again.
    return total + (await ask({ state: LISTS[0], limit: 1 }, null)).total;
  }

  function ask(
    query: Pick<LinkQuery, 'state' | 'limit'>,
    cursor: string | null,
  ): Promise<LinkPage> {
    return withRetries(signal, () =>
      showLinks(account, { text: '', order: 'newest', ...query }, cursor, { signal }),
    );
  }
}

/** Returns the earlier destinations of the links that have some, by code. */
export async function collectHistories(
  account: Account,
  links: readonly Link[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, FormerAddress[]>> {
  const histories = new Map<string, FormerAddress[]>();
  const changed = links.filter(({ changed_at }) => changed_at !== null);
  await inParallel(changed, PARALLEL, async ({ code }) => {
    try {
      const { history } = await withRetries(signal, () => showLink(account, code, { signal }));
      histories.set(code, history);
    } catch (error) {
      // The link was deleted after it was listed.
      if (failureCode(error) !== 'no-exist') throw error;
    }
  });
  return histories;
}

/**
 * Retries failed and rate-limited calls: after the time that the server asks to wait, or else with
 * exponential backoff. Makes at most `MAX_ATTEMPTS` attempts.
 */
async function withRetries<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await ask();
    } catch (error) {
      signal.throwIfAborted();
      const code = failureCode(error);
      if (attempts === MAX_ATTEMPTS || (code !== 'failed' && code !== 'resource-exhausted'))
        throw error;
      const retryAfter = error instanceof Failure ? error.retryAfter : undefined;
      await wait(retryAfter ?? FIRST_WAIT * 2 ** (attempts - 1), signal);
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
