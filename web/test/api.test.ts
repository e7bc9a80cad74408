import { describe, expect, it } from 'vitest';
import { accessLink, createShortLink, Failure, showProfile, verifyUser } from '../src/api';
import { data, error, serve, type Reply } from './server';

const link = { code: 'abcdefgh', url: 'https://example.org/' };
const owner = { kind: 'account', token: 'secret-token' } as const;
const create = () => createShortLink(link, owner, { signal: new AbortController().signal });
const failure = async (attempt: Promise<unknown>): Promise<Failure> => {
  try {
    await attempt;
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown;
  }
  throw new Error('It did not fail with a Failure');
};

describe('a call that is refused', () => {
  const html = (status: number): Reply => ({ status, body: '<h1>nginx</h1>' });

  it.each([
    ['INVALID_ARGUMENT', error(400, 'INVALID_ARGUMENT'), 'invalid-argument'],
    ['ABORTED', error(409, 'ABORTED'), 'aborted'],
    ['RESOURCE_EXHAUSTED', error(429, 'RESOURCE_EXHAUSTED'), 'resource-exhausted'],
    ['INTERNAL', error(500, 'INTERNAL'), 'failed'],
    ['UNAVAILABLE', error(503, 'UNAVAILABLE'), 'failed'],
    ['429 of a proxy', html(429), 'resource-exhausted'],
    ['502 of a proxy', html(502), 'failed'],
    ['a page in place of an answer', html(200), 'failed'],
    ['invalid token', data({ success: false, error: 'invalid token' }), 'invalid-token'],
    ['an outcome nobody named', data({ success: false, error: 'surprise' }), 'failed'],
    ['another code in the reply', data({ success: true, code: 'x', short_link: 'x' }), 'failed'],
  ])('%s', async (_name, answer, code) => {
    serve({ createShortLink: () => answer });
    expect((await failure(create())).code).toBe(code);
  });

  it('is one whose list has a link of another shape in it', async () => {
    const good = { short_link: 'abcdefgh', long_link: 'https://a.b/', views: 1, created_at: '' };
    const { signal } = new AbortController();
    serve({ showProfile: () => data({ success: true, data: [good, { ...good, views: '1' }] }) });
    expect((await failure(showProfile(owner, { signal }))).code).toBe('failed');
  });

  it('says how long to wait, if it says', async () => {
    serve({ createShortLink: () => error(429, 'RESOURCE_EXHAUSTED', { 'retry-after': '7' }) });
    expect((await failure(create())).retryAfter).toBe(7_000);
    serve({ createShortLink: () => error(429, 'RESOURCE_EXHAUSTED', { 'retry-after': 'soon' }) });
    expect((await failure(create())).retryAfter).toBeUndefined();
  });

  it('carries no secret to the console', async () => {
    serve({ createShortLink: () => 'network error', verifyUser: () => error(500, 'INTERNAL') });
    for (const attempt of [create(), verifyUser({ email: 'm@e', password: 'secret-password' })]) {
      const thrown = await failure(attempt);
      expect(JSON.stringify(thrown, Object.getOwnPropertyNames(thrown))).not.toContain('secret-');
      expect(thrown.cause).toBeUndefined();
    }
  });
});

describe('a call that is answered', () => {
  const options = { signal: new AbortController().signal };

  it('may hold more than is asked for', async () => {
    serve({
      accessLink: () =>
        data({ success: true, longUrl: [{ long_link: 'https://a.b/', new: 1 }], later: 2 }),
      showProfile: () => data({ success: true, data: [] }),
    });
    expect(await accessLink('abcdefgh', options)).toBe('https://a.b/');
    expect(await showProfile(owner, options)).toEqual([]);
  });

  it('is null where nothing is stored', async () => {
    serve({ accessLink: () => data({ success: true, longUrl: [] }) });
    expect(await accessLink('abcdefgh', options)).toBeNull();
  });
});
