// @vitest-environment node
/** Calls of an import: their sizes, and which are retried. */
import { describe, expect, it, vi } from 'vitest';
import { Failure } from '../../src/api/failure';
import { untilAnswered } from '../../src/api/untilAnswered';
import { batchesOf } from '../../src/features/import/batches';
import { inParallel } from '../../src/lib/parallel';

const row = (number: number, url = 'https://example.org/') => ({ row: number, code: null, url });

describe('batches', () => {
  it('contain as many rows as a call can have', () => {
    const rows = Array.from({ length: 1_201 }, (_, index) => row(index));
    const batches = [...batchesOf(rows, 500)];
    expect(batches.map(({ length }) => length)).toEqual([500, 500, 201]);
    expect(batches.flat()).toEqual(rows);
  });

  it('contain as many bytes as a call can have', () => {
    const rows = Array.from({ length: 500 }, (_, index) => row(index, '😀'.repeat(999)));
    const batches = [...batchesOf(rows, 500)];
    const sizes = batches.map((batch) => Buffer.byteLength(JSON.stringify(batch)));
    expect(Math.max(...sizes)).toBeLessThan(500_100);
    expect(batches.flat()).toEqual(rows);
  });
});

describe('concurrent work', () => {
  it('is limited, and starts nothing after an error', async () => {
    const begun: number[] = [];
    let running = 0;
    const work = async (item: number) => {
      begun.push(item);
      running += 1;
      expect(running).toBeLessThanOrEqual(3);
      await Promise.resolve();
      running -= 1;
      if (item === 4) throw new Error('four');
    };
    const items = Array.from({ length: 20 }, (_, index) => index);
    await expect(inParallel(items, 3, work)).rejects.toThrow('four');
    await new Promise((resolve) => setTimeout(resolve));
    expect(begun.length).toBeLessThan(9);
  });
});

describe('calls that are retried', () => {
  const failing = (...failures: Failure[]) =>
    vi.fn(() => {
      const failure = failures.shift();
      return failure ? Promise.reject(failure) : Promise.resolve('answer');
    });

  it('back off, and wait for as long as the server asks', async () => {
    vi.useFakeTimers();
    vi.spyOn(console, 'error').mockReturnValue();
    vi.stubGlobal('addEventListener', () => undefined);
    const call = failing(
      new Failure('f', 'failed'),
      new Failure('f', 'failed'),
      new Failure('f', 'resource-exhausted', '', 60_000),
    );
    const waits: (number | null)[] = [];
    const { signal } = new AbortController();
    const answer = untilAnswered(call, { signal, onRetryAfter: (wait) => waits.push(wait) });
    await vi.advanceTimersByTimeAsync(1_200);
    expect(call).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(2_400);
    expect(call).toHaveBeenCalledTimes(3);
    expect(waits).toEqual([60_000]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(waits).toEqual([60_000, null]);
    await expect(answer).resolves.toBe('answer');
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('fail at once if a retry does not help', async () => {
    const call = failing(new Failure('f', 'invalid-argument'));
    const { signal } = new AbortController();
    await expect(untilAnswered(call, { signal })).rejects.toMatchObject({
      code: 'invalid-argument',
    });
    expect(call).toHaveBeenCalledTimes(1);
  });

  it('stop when they are aborted', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    const control = new AbortController();
    const call = failing(new Failure('f', 'resource-exhausted', '', 60_000));
    const answer = untilAnswered(call, { signal: control.signal });
    setTimeout(() => control.abort(new Error('left')));
    await expect(answer).rejects.toThrow('left');
  });
});
