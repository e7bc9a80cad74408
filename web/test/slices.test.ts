import { beforeEach, describe, expect, it, vi } from 'vitest';
import { mapInSlices } from '../src/lib/slices';

const ITEMS = Array.from({ length: 100 }, (_, index) => index);

describe('a long list that is mapped in slices', () => {
  beforeEach(() => {
    // Each look at the clock is a millisecond later than the one before.
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 1));
  });

  it('comes whole and in order, and others have their turn meanwhile', async () => {
    const { port1, port2 } = new MessageChannel();
    const seen: (number | 'another')[] = [];
    port1.onmessage = () => seen.push('another');
    port2.postMessage(null);
    const doubled = await mapInSlices(ITEMS, (item) => {
      seen.push(item);
      return 2 * item;
    });
    port1.close();
    expect(doubled).toEqual(ITEMS.map((item) => 2 * item));
    expect(seen.indexOf('another')).toBeGreaterThan(0);
    expect(seen.indexOf('another')).toBeLessThan(ITEMS.length);
  });

  it('is left where nobody wants it any more', async () => {
    const left = new AbortController();
    const mapped: number[] = [];
    const map = (item: number) => {
      mapped.push(item);
      if (item === 30) left.abort();
    };
    await expect(mapInSlices(ITEMS, map, left.signal)).rejects.toThrow('aborted');
    expect(mapped.length).toBeLessThan(ITEMS.length);
  });
});
