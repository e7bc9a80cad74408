/** Retries calls in the background, with exponential backoff and jitter. */
import { Failure, failureCode, failureReason } from './failure';
import { reloadOnce } from './loading';

/** Milliseconds. */
const FIRST_WAIT = 1_000;
const MAX_WAIT = 30_000;
const MAX_TIMER = 2 ** 31 - 1;
const JITTER = 0.2;

interface Options {
  signal: AbortSignal;
  /**
   * Called with the milliseconds that the server asked to wait, and with null when the wait ends.
   */
  onRetryAfter?: (duration: number | null) => void;
}

/**
 * Returns the result of a call.
 *
 * Retries after a failure of the network or the server, and after the time that the server asks to
 * wait. Throws every other failure, and the signal's reason once it is aborted.
 */
export async function untilAnswered<T>(
  call: () => Promise<T>,
  { signal, onRetryAfter }: Options,
): Promise<T> {
  for (let failures = 0; ;) {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      const code = failureCode(error);
      // The document reloads and continues there.
      if (code === 'outdated' && reloadOnce()) await wait(MAX_TIMER, signal);
      if (failureReason(error) === 'ACCOUNT_FULL') throw error; // Waiting does not help.
      if (code !== 'failed' && code !== 'resource-exhausted' && code !== 'aborted') throw error;
      console.error(error);
      const retryAfter = error instanceof Failure ? error.retryAfter : undefined;
      if (retryAfter !== undefined) {
        onRetryAfter?.(retryAfter);
        await wait(Math.max(retryAfter, FIRST_WAIT), signal);
        onRetryAfter?.(null);
      } else {
        const isOnlineAgain = await wait(backoff(failures), signal, true);
        failures = isOnlineAgain ? 0 : failures + 1;
      }
    }
  }
}

function backoff(failures: number): number {
  const base = Math.min(FIRST_WAIT * 2 ** failures, MAX_WAIT);
  return base * (1 - JITTER + 2 * JITTER * Math.random());
}

/** Resolves to true if the browser came back online and ended the wait. Rejects when aborted. */
function wait(duration: number, signal: AbortSignal, endsOnline = false): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const ended = new AbortController();
    const end = (isOnline: boolean) => {
      clearTimeout(timer);
      ended.abort();
      resolve(isOnline);
    };
    const timer = setTimeout(() => end(false), Math.min(duration, MAX_TIMER));
    const options = { signal: ended.signal };
    if (endsOnline) addEventListener('online', () => end(true), options);
    signal.addEventListener(
      'abort',
      () => {
        reject(signal.reason as Error);
        end(false);
      },
      options,
    );
  });
}
