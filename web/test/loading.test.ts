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
/** A document fetches no file twice, so each test has its own. */
const file = (ending: string) => `assets/part-${(names += 1)}.${ending}`;

describe('a lazy part of the page', () => {
  it('is imported after all its files have loaded, each of which is fetched once', async () => {
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
    ['the server fails', new Response('', { status: 503 })],
  ])('is not imported while %s, and loads on the next attempt', async (_name, failure) => {
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

  it.each(['js', 'css'])('is outdated if the server no longer has its %s file', async (ending) => {
    answers(new Response('', { status: 404 }));
    await expect(bring(() => Promise.resolve(part), [file(ending)])).rejects.toThrow(Outdated);
    expect(sheets()).toHaveLength(0);
  });

  it.each(['js', 'css'])('has a timeout for its %s file', async (ending) => {
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

  it('is outdated if the browser does not import the fetched files', async () => {
    answers();
    await expect(bring(() => Promise.reject(down()), [file('js')])).rejects.toThrow(Outdated);
  });

  it('adds its style sheet again after a failure', async () => {
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

  it('does not fetch files that the document has already', async () => {
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

describe('a document without a part', () => {
  beforeEach(() => sessionStorage.clear());

  /** Opens a document that is older than a minute, and counts its reloads. */
  async function openDocument() {
    vi.resetModules();
    const { bring: bringPart, reloadOnce } = await import('../src/api/loading');
    vi.spyOn(performance, 'now').mockReturnValue(61_000);
    const reload = vi.fn();
    vi.stubGlobal('location', { origin: location.origin, reload });
    return { bringPart, reloadOnce, reload };
  }

  it('reloads itself once, and the reloaded document never does', async () => {
    const first = await openDocument();
    expect(first.reloadOnce()).toBe(true);
    expect(first.reload).toHaveBeenCalledOnce();
    const keep = vi.fn();
    const second = await openDocument();
    // Another loaded part makes no difference for the missing one.
    await second.bringPart(() => Promise.resolve(part));
    expect(second.reloadOnce(keep)).toBe(false);
    expect(second.reload).not.toHaveBeenCalled();
    expect(keep).not.toHaveBeenCalled();
  });

  it('can reload itself again in a later document, after a part has loaded', async () => {
    (await openDocument()).reloadOnce();
    const { bringPart } = await openDocument();
    await bringPart(() => Promise.resolve(part));
    expect((await openDocument()).reloadOnce()).toBe(true);
  });

  it('does not reload itself without storage', async () => {
    const { reloadOnce, reload } = await openDocument();
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    expect(reloadOnce()).toBe(false);
    expect(reload).not.toHaveBeenCalled();
  });
});
