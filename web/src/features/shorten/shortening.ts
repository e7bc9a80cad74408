/**
 * Submits one link at a time and retries until the server responds.
 *
 * The spinner is accurate: while it is shown, an attempt is in flight or waiting for its time.
 */
import { Failure, failureCode, failureReason } from '../../api';
import type { Owner } from '../../lib/owner';

export interface Submission {
  url: string;
  owner: Owner;
  /** undefined for that of the public URL. */
  domain?: string | undefined;
  /** Custom code. Without one, random codes are tried until one is free. */
  ending?: string;
  /** The first random code, if it was tried before. */
  code?: string;
}

export interface Request {
  url: string;
  owner: Owner;
  code: string;
  domain?: string | undefined;
}

export type Outcome =
  | { kind: 'shortened'; code: string; url: string; domain: string | undefined }
  | { kind: 'refused'; problem: 'invalid' | 'blocked' | 'full' }
  /** Another link has the custom code, or the instance no longer has the domain. */
  | { kind: 'taken' | 'unlisted'; url: string }
  | { kind: 'invalid-token' }
  /** Only accounts can shorten here. */
  | { kind: 'no-logged' };

export interface Ports {
  create: (request: Request, options: { signal: AbortSignal }) => Promise<string>;
  newCode: () => string;
  random: () => number;
  log: (error: unknown) => void;
  /** Called before each attempt, which may not come through. */
  onAttempt: (request: Request) => void;
  /** Loads a newer page that continues with the link. Returns whether it does. */
  reload: (url: string) => boolean;
  /**
   * Called with the milliseconds that the server asked to wait, and with null when the wait ends.
   */
  onRetryAfter: (duration: number | null) => void;
  /** Fires `online` when the browser is back online. */
  browser: EventTarget;
}

export interface Shortening {
  submit: (submission: Submission) => void;
  stop: () => void;
}

export const ATTEMPT_TIMEOUT = 70_000;
const FIRST_WAIT = 1_000;
const MAX_WAIT = 30_000;
const JITTER = 0.2;
const MAX_TIMER = 2 ** 31 - 1;
/**
 * Number of codes tried in a row. A taken code is replaced at once, but a server that reports every
 * code as taken counts as failing.
 */
const MAX_CODES_IN_A_ROW = 5;

export function createShortening(ports: Ports, onOutcome: (outcome: Outcome) => void): Shortening {
  let running: AbortController | undefined;

  const stop = () => {
    running?.abort();
    running = undefined;
  };

  const submit = (submission: Submission) => {
    stop();
    const mine = (running = new AbortController());
    void untilAnswered(submission, ports, mine.signal).then((outcome) => {
      if (outcome && !mine.signal.aborted) {
        running = undefined;
        onOutcome(outcome);
      }
    });
  };

  return { submit, stop };
}

async function untilAnswered(
  { url, owner, domain, ending, code: first }: Submission,
  ports: Ports,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  let code = ending ?? first ?? ports.newCode();
  let failures = 0;
  let taken = 0;
  while (!signal.aborted) {
    const request = { url, owner, code, domain };
    ports.onAttempt(request);
    try {
      const short = await attempt(request, ports, signal);
      return { kind: 'shortened', code: short, url, domain };
    } catch (error) {
      if (isAborted(signal)) return undefined;
      const failure = failureCode(error);
      if (failure === 'aborted' && ending !== undefined) {
        return { kind: 'taken', url };
      } else if (failure === 'aborted') {
        code = ports.newCode();
        taken += 1;
        if (taken % MAX_CODES_IN_A_ROW !== 0) continue;
      } else if (failure === 'invalid-argument') {
        const reason = failureReason(error);
        if (reason === 'INVALID_DOMAIN') return { kind: 'unlisted', url };
        return { kind: 'refused', problem: reason === 'URL_REFUSED' ? 'blocked' : 'invalid' };
      } else if (failureReason(error) === 'ACCOUNT_FULL') {
        return { kind: 'refused', problem: 'full' };
      } else if (failure === 'invalid-token' || failure === 'no-logged') {
        return { kind: failure };
      } else if (failure === 'outdated' && ports.reload(url)) {
        return undefined;
      }
      ports.log(error);
      const retryAfter = error instanceof Failure ? error.retryAfter : undefined;
      if (retryAfter !== undefined) {
        ports.onRetryAfter(retryAfter);
        await wait(Math.max(retryAfter, FIRST_WAIT), signal);
        if (!isAborted(signal)) ports.onRetryAfter(null);
      } else if (await wait(backoff(failures, ports.random()), signal, ports.browser)) {
        failures = 0;
      } else {
        failures += 1;
      }
    }
  }
  return undefined;
}

/** Reads the flag again: it may have changed during an await. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

async function attempt(request: Request, ports: Ports, signal: AbortSignal): Promise<string> {
  const mine = new AbortController();
  const abort = () => mine.abort();
  const timer = setTimeout(abort, ATTEMPT_TIMEOUT);
  signal.addEventListener('abort', abort);
  // Reject as well as abort: a hanging import() does not observe the signal.
  const aborted = new Promise<never>((_resolve, reject) => {
    mine.signal.addEventListener('abort', () =>
      reject(new Failure('createShortLink', 'failed', 'no answer in time')),
    );
  });
  try {
    return await Promise.race([ports.create(request, { signal: mine.signal }), aborted]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

export function backoff(failures: number, random: number): number {
  const base = Math.min(FIRST_WAIT * 2 ** failures, MAX_WAIT);
  return base * (1 - JITTER + 2 * JITTER * random);
}

/** Waits. Resolves to true if the browser came back online and ended the wait. */
function wait(duration: number, signal: AbortSignal, browser?: EventTarget): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (online: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      browser?.removeEventListener('online', onOnline);
      resolve(online);
    };
    const onAbort = () => end(false);
    const onOnline = () => end(true);
    const timer = setTimeout(() => end(false), Math.min(duration, MAX_TIMER));
    signal.addEventListener('abort', onAbort);
    browser?.addEventListener('online', onOnline);
  });
}
