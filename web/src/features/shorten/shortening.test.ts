import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Failure } from '../../api';
import {
  backoff,
  createShortening,
  ATTEMPT_TIMEOUT,
  type Outcome,
  type Request,
} from './shortening';

const failed = () => new Failure('createShortLink', 'failed');
const taken = () => new Failure('createShortLink', 'aborted');

/** Returns a Shortening whose requests get these answers in turn. The last one repeats. */
function setUp(...answers: (() => Promise<string>)[]) {
  const requests: (Request & { signal: AbortSignal })[] = [];
  const outcomes: Outcome[] = [];
  const browser = new EventTarget();
  const log = vi.fn();
  const reload = vi.fn(() => true);
  const onRetryAfter = vi.fn();
  let codes = 0;
  const shortening = createShortening(
    {
      create: (request, { signal }) => {
        requests.push({ ...request, signal });
        const answer = answers[Math.min(requests.length, answers.length) - 1];
        return answer ? answer() : Promise.resolve(request.code);
      },
      newCode: () => `code000${++codes}`,
      random: () => 0.5,
      log,
      reload,
      onRetryAfter,
      onAttempt: () => undefined,
      browser,
    },
    (outcome) => outcomes.push(outcome),
  );
  return { shortening, requests, outcomes, browser, log, reload, onRetryAfter };
}

const link = { url: 'https://example.com/', owner: { kind: 'nobody' } as const };
const settle = (duration = 0) => vi.advanceTimersByTimeAsync(duration);

describe('a submission', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('reports the short code', async () => {
    const { shortening, outcomes, requests } = setUp(() => Promise.resolve('code0001'));
    shortening.submit(link);
    await settle();
    expect(outcomes).toEqual([{ kind: 'shortened', code: 'code0001', url: link.url }]);
    expect(requests).toHaveLength(1);
  });

  it('retries with the same code and link after 1 s, 2 s, 4 s, up to 30 s', async () => {
    const { shortening, requests, outcomes, log } = setUp(() => Promise.reject(failed()));
    shortening.submit(link);
    await settle();
    for (const wait of [1000, 2000, 4000, 8000, 16000, 30000, 30000]) {
      const before = requests.length;
      await settle(wait - 1);
      expect(requests).toHaveLength(before);
      await settle(1);
      expect(requests).toHaveLength(before + 1);
    }
    expect(new Set(requests.map(({ code, url }) => code + url)).size).toBe(1);
    expect(outcomes).toEqual([]);
    expect(log).toHaveBeenCalledTimes(requests.length);
    shortening.stop();
  });

  it('varies its waits randomly by up to 20%', () => {
    expect(backoff(0, 0)).toBeCloseTo(800);
    expect(backoff(0, 1)).toBeCloseTo(1200);
    expect(backoff(20, 0.5)).toBeCloseTo(30_000);
  });

  it('aborts an attempt after 70 s and retries', async () => {
    const { shortening, requests, outcomes } = setUp(
      () => new Promise<never>(() => undefined),
      () => Promise.resolve('code0001'),
    );
    shortening.submit(link);
    await settle(ATTEMPT_TIMEOUT - 1);
    expect(requests[0]?.signal.aborted).toBe(false);
    await settle(1);
    expect(requests[0]?.signal.aborted).toBe(true);
    await settle(1000);
    expect(requests).toHaveLength(2);
    expect(outcomes).toHaveLength(1);
  });

  it('retries at once when the browser is back online', async () => {
    const { shortening, requests, browser } = setUp(() => Promise.reject(failed()));
    shortening.submit(link);
    await settle(1000 + 2000 + 4000);
    expect(requests).toHaveLength(4);
    browser.dispatchEvent(new Event('online'));
    await settle();
    expect(requests).toHaveLength(5);
    await settle(1000);
    expect(requests).toHaveLength(6);
    shortening.stop();
  });

  it('replaces a taken code at once', async () => {
    const { shortening, requests, outcomes, log } = setUp(
      () => Promise.reject(taken()),
      () => Promise.resolve('code0002'),
    );
    shortening.submit(link);
    await settle();
    expect(requests.map(({ code }) => code)).toEqual(['code0001', 'code0002']);
    expect(outcomes).toHaveLength(1);
    expect(log).not.toHaveBeenCalled();
  });

  it('does not replace a custom code', async () => {
    const { shortening, requests, outcomes } = setUp(() => Promise.reject(taken()));
    shortening.submit({ ...link, ending: 'fiesta' });
    await settle();
    expect(requests.map(({ code }) => code)).toEqual(['fiesta']);
    expect(outcomes).toEqual([{ kind: 'taken', url: link.url }]);
  });

  it('does not flood a server that reports every code as taken', async () => {
    const { shortening, requests } = setUp(() => Promise.reject(taken()));
    shortening.submit(link);
    await settle();
    expect(requests).toHaveLength(5);
    shortening.stop();
  });

  it('keeps the code of an attempt that may have succeeded', async () => {
    const { shortening, requests } = setUp(
      () => Promise.reject(taken()),
      () => Promise.reject(failed()),
      () => Promise.resolve('code0002'),
    );
    shortening.submit(link);
    await settle(1000);
    expect(requests.map(({ code }) => code)).toEqual(['code0001', 'code0002', 'code0002']);
  });

  it.each([
    ['invalid-argument', undefined, { kind: 'refused', problem: 'invalid' }],
    ['invalid-argument', 'INVALID_CODE', { kind: 'refused', problem: 'invalid' }],
    ['invalid-argument', 'URL_REFUSED', { kind: 'refused', problem: 'blocked' }],
    ['resource-exhausted', 'ACCOUNT_FULL', { kind: 'refused', problem: 'full' }],
    ['invalid-token', undefined, { kind: 'invalid-token' }],
  ] as const)('stops on %s %s', async (code, reason, outcome) => {
    const { shortening, requests, outcomes } = setUp(() =>
      Promise.reject(new Failure('createShortLink', code, '', undefined, reason)),
    );
    shortening.submit(link);
    await settle(120_000);
    expect(requests).toHaveLength(1);
    expect(outcomes).toEqual([outcome]);
  });

  it('waits as long as the server asks, online or not', async () => {
    const { shortening, requests, browser, onRetryAfter } = setUp(
      () => Promise.reject(new Failure('createShortLink', 'resource-exhausted', '', 45_000)),
      () => Promise.resolve('code0001'),
    );
    shortening.submit(link);
    await settle(44_999);
    expect(onRetryAfter.mock.calls).toEqual([[45_000]]);
    browser.dispatchEvent(new Event('online'));
    await settle();
    expect(requests).toHaveLength(1);
    await settle(1);
    expect(onRetryAfter.mock.calls).toEqual([[45_000], [null]]);
    expect(requests).toHaveLength(2);
  });

  it('does not report the end of a stopped wait', async () => {
    const { shortening, onRetryAfter } = setUp(() =>
      Promise.reject(new Failure('createShortLink', 'resource-exhausted', '', 45_000)),
    );
    shortening.submit(link);
    await settle();
    shortening.stop();
    await settle(120_000);
    expect(onRetryAfter.mock.calls).toEqual([[45_000]]);
  });

  it('backs off as after any failure if the server names no time', async () => {
    const { shortening, requests } = setUp(() =>
      Promise.reject(new Failure('createShortLink', 'resource-exhausted')),
    );
    shortening.submit(link);
    await settle(1000);
    expect(requests).toHaveLength(2);
    shortening.stop();
  });

  it('is replaced by a new submission', async () => {
    let answerFirst: (code: string) => void = () => undefined;
    const { shortening, requests, outcomes } = setUp(
      () => new Promise((resolve) => (answerFirst = resolve)),
      () => Promise.resolve('code0002'),
    );
    shortening.submit(link);
    await settle();
    shortening.submit({ ...link, url: 'https://example.org/' });
    expect(requests[0]?.signal.aborted).toBe(true);
    answerFirst('code0001');
    await settle();
    expect(outcomes).toEqual([
      { kind: 'shortened', code: 'code0002', url: 'https://example.org/' },
    ]);
  });

  it('does nothing after it was stopped', async () => {
    const { shortening, requests, outcomes } = setUp(() => Promise.reject(failed()));
    shortening.submit(link);
    await settle();
    shortening.stop();
    await settle(120_000);
    expect(requests).toHaveLength(1);
    expect(outcomes).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('treats any error as a failed call, including code that does not load', async () => {
    const { shortening, requests, outcomes } = setUp(
      () => Promise.reject(new TypeError('Failed to fetch dynamically imported module')),
      () => Promise.resolve('code0001'),
    );
    shortening.submit(link);
    await settle(1000);
    expect(requests).toHaveLength(2);
    expect(outcomes).toHaveLength(1);
  });
});
