/**
 * One submission at a time, tried until it is answered: the spinner it drives is true, because as
 * long as it turns something is really being tried or is waiting for its next try.
 */
import { Failure, failureCode, failureReason } from '../../api';
import type { Owner } from '../../lib/owner';

export interface Submission {
  url: string;
  owner: Owner;
  /** The code that its owner chose; without one they are drawn until one is free. */
  ending?: string;
}

export interface Request {
  url: string;
  owner: Owner;
  code: string;
}

export type Outcome =
  | { kind: 'shortened'; code: string; url: string }
  | { kind: 'refused'; problem: 'invalid' | 'blocked' }
  /** Another link has the chosen code. */
  | { kind: 'taken'; url: string }
  | { kind: 'invalid-token' };

export interface Ports {
  create: (request: Request, options: { signal: AbortSignal }) => Promise<string>;
  newCode: () => string;
  random: () => number;
  log: (error: unknown) => void;
  /** Loads a newer page that goes on with the link; answers whether it does. */
  loadAnew: (url: string) => boolean;
  /** How long the server asked to be left alone, in milliseconds; null when it is asked again. */
  waits: (duration: number | null) => void;
  /** Fires `online` when the browser is back. */
  browser: EventTarget;
}

export interface Shortening {
  submit: (submission: Submission) => void;
  stop: () => void;
}

export const TRY_LIMIT = 70_000;
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 30_000;
const JITTER = 0.2;
const LONGEST_TIMER = 2 ** 31 - 1;
/** A code that is taken is replaced at once; a server that says so of every code is a failing one. */
const FRESH_CODES_IN_A_ROW = 5;

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
  { url, owner, ending }: Submission,
  ports: Ports,
  left: AbortSignal,
): Promise<Outcome | undefined> {
  let code = ending ?? ports.newCode();
  let failures = 0;
  let taken = 0;
  while (!left.aborted) {
    try {
      const short = await oneTry({ url, owner, code }, ports, left);
      return { kind: 'shortened', code: short, url };
    } catch (error) {
      if (isAborted(left)) return undefined;
      const failure = failureCode(error);
      if (failure === 'aborted' && ending !== undefined) {
        return { kind: 'taken', url };
      } else if (failure === 'aborted') {
        code = ports.newCode();
        taken += 1;
        if (taken % FRESH_CODES_IN_A_ROW !== 0) continue;
      } else if (failure === 'invalid-argument') {
        const isBlocked = failureReason(error) === 'URL_REFUSED';
        return { kind: 'refused', problem: isBlocked ? 'blocked' : 'invalid' };
      } else if (failure === 'invalid-token') {
        return { kind: 'invalid-token' };
      } else if (failure === 'outdated' && ports.loadAnew(url)) {
        return undefined;
      }
      ports.log(error);
      const asked = error instanceof Failure ? error.retryAfter : undefined;
      if (asked !== undefined) {
        ports.waits(asked);
        await wait(Math.max(asked, FIRST_WAIT), left);
        if (!isAborted(left)) ports.waits(null);
      } else if (await wait(backoff(failures, ports.random()), left, ports.browser)) {
        failures = 0;
      } else {
        failures += 1;
      }
    }
  }
  return undefined;
}

/** Read anew: what was false before an await need not be so after it. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

async function oneTry(request: Request, ports: Ports, left: AbortSignal): Promise<string> {
  const mine = new AbortController();
  const abort = () => mine.abort();
  const timer = setTimeout(abort, TRY_LIMIT);
  left.addEventListener('abort', abort);
  // The call is raced as well as told: a load that hangs knows nothing of a signal.
  const aborted = new Promise<never>((_resolve, reject) => {
    mine.signal.addEventListener('abort', () =>
      reject(new Failure('createShortLink', 'failed', 'no answer in time')),
    );
  });
  try {
    return await Promise.race([ports.create(request, { signal: mine.signal }), aborted]);
  } finally {
    clearTimeout(timer);
    left.removeEventListener('abort', abort);
  }
}

export function backoff(failures: number, random: number): number {
  const base = Math.min(FIRST_WAIT * 2 ** failures, LONGEST_WAIT);
  return base * (1 - JITTER + 2 * JITTER * random);
}

/** Waits; answers true when the browser came back online and the wait was cut short. */
function wait(duration: number, left: AbortSignal, browser?: EventTarget): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (online: boolean) => {
      clearTimeout(timer);
      left.removeEventListener('abort', onLeft);
      browser?.removeEventListener('online', onOnline);
      resolve(online);
    };
    const onLeft = () => end(false);
    const onOnline = () => end(true);
    const timer = setTimeout(() => end(false), Math.min(duration, LONGEST_TIMER));
    left.addEventListener('abort', onLeft);
    browser?.addEventListener('online', onOnline);
  });
}
