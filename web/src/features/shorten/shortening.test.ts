import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Failure } from '../../api';
import { backoff, createShortening, TRY_LIMIT, type Outcome, type Request } from './shortening';

const failed = () => new Failure('createShortLink', 'failed');
const taken = () => new Failure('createShortLink', 'aborted');

/** Each submission meets the next of these answers; the last one stays. */
function setUp(...answers: (() => Promise<string>)[]) {
  const requests: (Request & { signal: AbortSignal })[] = [];
  const outcomes: Outcome[] = [];
  const browser = new EventTarget();
  const log = vi.fn();
  const loadAnew = vi.fn(() => true);
  const waits = vi.fn();
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
      loadAnew,
      waits,
      browser,
    },
    (outcome) => outcomes.push(outcome),
  );
  return { shortening, requests, outcomes, browser, log, loadAnew, waits };
}

const link = { url: 'https://example.com/', owner: { kind: 'nobody' } as const };
const settle = (duration = 0) => vi.advanceTimersByTimeAsync(duration);

describe('the true spinner', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('answers with the short code', async () => {
    const { shortening, outcomes, requests } = setUp(() => Promise.resolve('code0001'));
    shortening.submit(link);
    await settle();
    expect(outcomes).toEqual([{ kind: 'shortened', code: 'code0001', url: link.url }]);
    expect(requests).toHaveLength(1);
  });

  it('tries the same code and link again after 1 s, 2 s, 4 s, up to 30 s', async () => {
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

  it('spreads its waits by a fifth to either side', () => {
    expect(backoff(0, 0)).toBeCloseTo(800);
    expect(backoff(0, 1)).toBeCloseTo(1200);
    expect(backoff(20, 0.5)).toBeCloseTo(30_000);
  });

  it('gives a try 70 s and then tries again', async () => {
    const { shortening, requests, outcomes } = setUp(
      () => new Promise<never>(() => undefined),
      () => Promise.resolve('code0001'),
    );
    shortening.submit(link);
    await settle(TRY_LIMIT - 1);
    expect(requests[0]?.signal.aborted).toBe(false);
    await settle(1);
    expect(requests[0]?.signal.aborted).toBe(true);
    await settle(1000);
    expect(requests).toHaveLength(2);
    expect(outcomes).toHaveLength(1);
  });

  it('tries at once when the browser is back online', async () => {
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

  it('takes a fresh code at once when one is taken', async () => {
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

  it('draws no other code where its owner chose one', async () => {
    const { shortening, requests, outcomes } = setUp(() => Promise.reject(taken()));
    shortening.submit({ ...link, ending: 'fiesta' });
    await settle();
    expect(requests.map(({ code }) => code)).toEqual(['fiesta']);
    expect(outcomes).toEqual([{ kind: 'taken', url: link.url }]);
  });

  it('does not storm a server that says every code is taken', async () => {
    const { shortening, requests } = setUp(() => Promise.reject(taken()));
    shortening.submit(link);
    await settle();
    expect(requests).toHaveLength(5);
    shortening.stop();
  });

  it('keeps the code of a try that may have arrived', async () => {
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

  it('waits as long as it is asked to, online or not', async () => {
    const { shortening, requests, browser, waits } = setUp(
      () => Promise.reject(new Failure('createShortLink', 'resource-exhausted', '', 45_000)),
      () => Promise.resolve('code0001'),
    );
    shortening.submit(link);
    await settle(44_999);
    expect(waits.mock.calls).toEqual([[45_000]]);
    browser.dispatchEvent(new Event('online'));
    await settle();
    expect(requests).toHaveLength(1);
    await settle(1);
    expect(waits.mock.calls).toEqual([[45_000], [null]]);
    expect(requests).toHaveLength(2);
  });

  it('says nothing of a wait that was left', async () => {
    const { shortening, waits } = setUp(() =>
      Promise.reject(new Failure('createShortLink', 'resource-exhausted', '', 45_000)),
    );
    shortening.submit(link);
    await settle();
    shortening.stop();
    await settle(120_000);
    expect(waits.mock.calls).toEqual([[45_000]]);
  });

  it('goes on like after any failure when no time is named', async () => {
    const { shortening, requests } = setUp(() =>
      Promise.reject(new Failure('createShortLink', 'resource-exhausted')),
    );
    shortening.submit(link);
    await settle(1000);
    expect(requests).toHaveLength(2);
    shortening.stop();
  });

  it('lets a new submission replace the old one', async () => {
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

  it('is silent after it was left', async () => {
    const { shortening, requests, outcomes } = setUp(() => Promise.reject(failed()));
    shortening.submit(link);
    await settle();
    shortening.stop();
    await settle(120_000);
    expect(requests).toHaveLength(1);
    expect(outcomes).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('takes anything thrown, a code that did not load too, for a failing call', async () => {
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
