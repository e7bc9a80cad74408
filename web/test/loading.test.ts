import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { bring, Outdated } from '../src/api/loading';

afterEach(() => {
  vi.unstubAllGlobals();
  for (const link of document.querySelectorAll('link')) link.remove();
});

const answers = (...replies: (Response | Error)[]) => {
  const fetched = vi.fn<typeof fetch>(() => {
    const reply = replies.shift() ?? new Response('code');
    return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply);
  });
  vi.stubGlobal('fetch', fetched);
  return fetched;
};
const down = () => new TypeError('Failed to fetch');
const sheets = () => document.querySelectorAll('link[rel=stylesheet]');
const part = { default: 'a part' };
let names = 0;
/** No file is fetched twice in a document, so each test has one of its own. */
const file = (ending: string) => `assets/part-${(names += 1)}.${ending}`;

describe('a part of the page that is loaded later', () => {
  it('is imported once all of its files are there, and each is fetched once', async () => {
    const fetched = answers();
    const files = [file('js'), file('js')];
    const load = vi.fn(() => Promise.resolve(part));
    expect(await Promise.all([bring(load, files), bring(load, files)])).toEqual([part, part]);
    expect(fetched.mock.calls.map(([url]) => url)).toEqual(
      files.map((name) => `${location.origin}/${name}`),
    );
  });

  it.each([
    ['the connection is down', down()],
    ['the server is not well', new Response('', { status: 503 })],
  ])('is not imported while %s, and comes with the next try', async (_name, failure) => {
    const fetched = answers(failure);
    const files = [file('js')];
    const load = vi.fn(() => Promise.resolve(part));
    const tried = bring(load, files);
    await expect(tried).rejects.toThrow();
    await expect(tried).rejects.not.toBeInstanceOf(Outdated);
    expect(load).not.toHaveBeenCalled();
    expect(await bring(load, files)).toBe(part);
    expect(fetched).toHaveBeenCalledTimes(2);
  });

  it.each(['js', 'css'])('is outdated where the server has its %s no more', async (ending) => {
    answers(new Response('', { status: 404 }));
    await expect(bring(() => Promise.resolve(part), [file(ending)])).rejects.toThrow(Outdated);
    expect(sheets()).toHaveLength(0);
  });

  it.each(['js', 'css'])('has a deadline for its %s', async (ending) => {
    const deadline = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(deadline.signal);
    vi.stubGlobal('fetch', (_url: string, { signal }: { signal: AbortSignal }) => {
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    });
    const tried = bring(() => Promise.resolve(part), [file(ending)]);
    expect(timeout).toHaveBeenCalledWith(70_000);
    deadline.abort(new DOMException('too long', 'TimeoutError'));
    await expect(tried).rejects.toThrow('too long');
    expect(sheets()).toHaveLength(0);
  });

  it('is outdated where the browser did not import what had come', async () => {
    answers();
    await expect(bring(() => Promise.reject(down()), [file('js')])).rejects.toThrow(Outdated);
  });

  it('has its style sheet put in anew after one that failed', async () => {
    answers();
    const files = [file('css')];
    const first = bring(() => Promise.resolve(part), files);
    await vi.waitFor(() => expect(sheets()).toHaveLength(1));
    sheets()[0]?.dispatchEvent(new Event('error'));
    await expect(first).rejects.toThrow('did not load');
    expect(sheets()).toHaveLength(0);
    const second = bring(() => Promise.resolve(part), files);
    await vi.waitFor(() => expect(sheets()).toHaveLength(1));
    sheets()[0]?.dispatchEvent(new Event('load'));
    expect(await second).toBe(part);
    await bring(() => Promise.resolve(part), files);
    expect(sheets()).toHaveLength(1);
  });

  it('takes what the document has already from there', async () => {
    const fetched = answers();
    const name = file('js');
    const link = document.createElement('link');
    link.rel = 'modulepreload';
    link.href = `/${name}`;
    document.head.append(link);
    expect(await bring(() => Promise.resolve(part), [name])).toBe(part);
    expect(fetched).not.toHaveBeenCalled();
  });
});

describe('a document that misses a part', () => {
  beforeEach(() => sessionStorage.clear());

  /** One that was left open for more than a minute; what it would do by itself is counted. */
  async function openDocument() {
    vi.resetModules();
    const { bring: bringPart, loadAnew } = await import('../src/api/loading');
    vi.spyOn(performance, 'now').mockReturnValue(61_000);
    const reload = vi.fn();
    vi.stubGlobal('location', { origin: location.origin, reload });
    return { bringPart, loadAnew, reload };
  }

  it('loads itself anew once, and the one that comes never does', async () => {
    const first = await openDocument();
    expect(first.loadAnew()).toBe(true);
    expect(first.reload).toHaveBeenCalledOnce();
    const keep = vi.fn();
    const second = await openDocument();
    // Another part that came changes nothing for the one that is missed.
    await second.bringPart(() => Promise.resolve(part));
    expect(second.loadAnew(keep)).toBe(false);
    expect(second.reload).not.toHaveBeenCalled();
    expect(keep).not.toHaveBeenCalled();
  });

  it('may do so again in a later document, once a part did come', async () => {
    (await openDocument()).loadAnew();
    const { bringPart } = await openDocument();
    await bringPart(() => Promise.resolve(part));
    expect((await openDocument()).loadAnew()).toBe(true);
  });

  it('stays as it is where that cannot be remembered', async () => {
    const { loadAnew, reload } = await openDocument();
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    expect(loadAnew()).toBe(false);
    expect(reload).not.toHaveBeenCalled();
  });
});
