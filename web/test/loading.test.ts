import { afterEach, describe, expect, it, vi } from 'vitest';
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

  it('is outdated where the server has it no more', async () => {
    answers(new Response('', { status: 404 }));
    await expect(bring(() => Promise.resolve(part), [file('js')])).rejects.toThrow(Outdated);
  });

  it('is outdated where the browser did not import what had come', async () => {
    answers();
    await expect(bring(() => Promise.reject(down()), [file('js')])).rejects.toThrow(Outdated);
  });

  it('has its style sheet put in anew after one that failed', async () => {
    const files = [file('css')];
    const sheets = () => document.querySelectorAll('link[rel=stylesheet]');
    const first = bring(() => Promise.resolve(part), files);
    sheets()[0]?.dispatchEvent(new Event('error'));
    await expect(first).rejects.toThrow('did not load');
    expect(sheets()).toHaveLength(0);
    const second = bring(() => Promise.resolve(part), files);
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
