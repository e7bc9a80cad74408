import { describe, expect, it } from 'vitest';
import {
  accessLink,
  changeLink,
  changePassword,
  claimLinks,
  createShortLink,
  Failure,
  removeAccount,
  removeLinks,
  restoreLinks,
  showLink,
  showLinks,
  verifyUser,
} from '../src/api';
import { link } from './links';
import { data, error, serve, type Reply } from './server';

const made = { code: 'abcdefgh', url: 'https://example.org/' };
const owner = { kind: 'account', token: 'secret-token' } as const;
const guest = { kind: 'guest', key: 'secret-key' } as const;
const create = () => createShortLink(made, owner, { signal: new AbortController().signal });
const failure = async (attempt: Promise<unknown>): Promise<Failure> => {
  try {
    await attempt;
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown;
  }
  throw new Error('It did not fail with a Failure');
};

describe('a refused call', () => {
  const html = (status: number): Reply => ({ status, body: '<h1>nginx</h1>' });

  it.each([
    ['INVALID_ARGUMENT', error(400, 'INVALID_ARGUMENT'), 'invalid-argument'],
    ['ABORTED', error(409, 'ABORTED'), 'aborted'],
    ['RESOURCE_EXHAUSTED', error(429, 'RESOURCE_EXHAUSTED'), 'resource-exhausted'],
    ['INTERNAL', error(500, 'INTERNAL'), 'failed'],
    ['UNAVAILABLE', error(503, 'UNAVAILABLE'), 'failed'],
    ['429 of a proxy', html(429), 'resource-exhausted'],
    ['502 of a proxy', html(502), 'failed'],
    ['an HTML page instead of a reply', html(200), 'failed'],
    ['invalid token', data({ success: false, error: 'invalid token' }), 'invalid-token'],
    ['an unknown outcome', data({ success: false, error: 'surprise' }), 'failed'],
    ['another code in the reply', data({ success: true, code: 'x', short_link: 'x' }), 'failed'],
  ])('%s', async (_name, answer, code) => {
    serve({ createShortLink: () => answer });
    expect((await failure(create())).code).toBe(code);
  });

  it('fails if a link in a list has another shape', async () => {
    const query = { text: '', state: null, order: 'newest' } as const;
    const good = link('abcdefgh', 'https://a.b/');
    const list = (views: unknown) => ({
      success: true,
      links: [good, { ...good, views }],
      total: 2,
      cursor: null,
    });
    serve({ showLinks: () => data(list(1)) });
    expect((await showLinks(owner, query, null)).links).toHaveLength(2);
    serve({ showLinks: () => data(list('1')) });
    expect((await failure(showLinks(owner, query, null))).code).toBe('failed');
  });

  it('reports how long to wait if the server says so', async () => {
    serve({ createShortLink: () => error(429, 'RESOURCE_EXHAUSTED', { 'retry-after': '7' }) });
    expect((await failure(create())).retryAfter).toBe(7_000);
    serve({ createShortLink: () => error(429, 'RESOURCE_EXHAUSTED', { 'retry-after': 'soon' }) });
    expect((await failure(create())).retryAfter).toBeUndefined();
  });

  it('reports which argument is wrong if a page can show it', async () => {
    const refuse = (details: unknown) =>
      serve({ changeLink: () => ({ status: 400, body: { error: { status: 'X', details } } }) });
    const change = () => changeLink(owner, 'abcdefgh', { url: 'x' });
    refuse({ reason: 'INVALID_URL' });
    expect(await failure(change())).toMatchObject({ reason: 'INVALID_URL' });
    for (const details of [{ reason: 'NEW_ONE' }, {}, null, undefined]) {
      refuse(details);
      expect((await failure(change())).reason).toBeUndefined();
    }
  });

  it.each([
    ['no logged', 'no-logged'],
    ['invalid token', 'invalid-token'],
    ['no exist', 'no-exist'],
  ])('each call about a link reports %s', async (said, code) => {
    const answer = () => data({ success: false, error: said });
    serve({ showLink: answer, changeLink: answer, removeLinks: answer, restoreLinks: answer });
    for (const attempt of [
      showLink(owner, 'abcdefgh'),
      changeLink(owner, 'abcdefgh', { title: '' }),
      removeLinks(owner, ['abcdefgh']),
      restoreLinks(owner, ['abcdefgh']),
    ]) {
      expect((await failure(attempt)).code).toBe(code);
    }
  });

  it('reports a wrong password', async () => {
    const answer = () => data({ success: false, error: 'incorrect' });
    serve({ changePassword: answer, removeAccount: answer });
    const change = { password: 'a', new_password: 'b', new_salt: 'c' };
    expect((await failure(changePassword(owner, change))).code).toBe('incorrect');
    expect((await failure(removeAccount(owner, 'a'))).code).toBe('incorrect');
  });

  it('logs no secret to the console', async () => {
    serve({ createShortLink: () => 'network error', verifyUser: () => error(500, 'INTERNAL') });
    for (const attempt of [
      create(),
      verifyUser({ email: 'm@e', password: 'secret-password', device: null }),
      showLink(guest, 'abcdefgh'),
    ]) {
      const thrown = await failure(attempt);
      expect(JSON.stringify(thrown, Object.getOwnPropertyNames(thrown))).not.toContain('secret-');
      expect(thrown.cause).toBeUndefined();
    }
  });
});

describe('a successful call', () => {
  const options = { signal: new AbortController().signal };

  it('may return unknown fields', async () => {
    serve({
      accessLink: () =>
        data({ success: true, longUrl: [{ long_link: 'https://a.b/', new: 1 }], later: 2 }),
    });
    expect(await accessLink('abcdefgh', options)).toEqual({
      state: 'active',
      url: 'https://a.b/',
      reason: null,
    });
  });

  it('returns null if nothing is stored', async () => {
    serve({ accessLink: () => data({ success: true, longUrl: [] }) });
    expect(await accessLink('abcdefgh', options)).toBeNull();
  });

  it('reports why a link has ended, and where it redirects if it still does', async () => {
    serve({ accessLink: () => data({ success: true, longUrl: [], state: 'removed' }) });
    expect(await accessLink('abcdefgh', options)).toEqual({
      state: 'removed',
      url: null,
      reason: null,
    });
    const ended = { success: true, longUrl: [{ long_link: 'https://a.b/' }], state: 'expired' };
    serve({ accessLink: () => data(ended) });
    expect(await accessLink('abcdefgh', options)).toMatchObject({
      state: 'expired',
      url: 'https://a.b/',
    });
    const blocked = { success: true, longUrl: [], state: 'blocked', reason: 'phishing' };
    serve({ accessLink: () => data(blocked) });
    expect(await accessLink('abcdefgh', options)).toMatchObject({ reason: 'phishing' });
  });

  it('sends the credentials of its owner: a token for an account, a key for a guest, never both', async () => {
    const calls = serve({
      showLinks: () => data({ success: true, links: [], total: 0, cursor: null }),
      claimLinks: () => data({ success: true, claimed: 3 }),
    });
    const query = { text: '', state: null, order: 'newest' } as const;
    await showLinks(owner, query, null);
    await showLinks(guest, { ...query, text: 'rutas', state: 'expired' }, 'here');
    expect(await claimLinks(owner, guest)).toBe(3);
    expect(calls.map(({ payload }) => payload)).toEqual([
      {
        token: 'secret-token',
        guest: null,
        query: null,
        state: null,
        order: 'newest',
        limit: 100,
        cursor: null,
        recent: false,
      },
      {
        token: null,
        guest: 'secret-key',
        query: 'rutas',
        state: 'expired',
        order: 'newest',
        limit: 100,
        cursor: 'here',
        recent: false,
      },
      { token: 'secret-token', guest: 'secret-key' },
    ]);
  });

  it("returns a session after a new password, by this browser's clock", async () => {
    const date = new Date(1_800_000_000_000).toUTCString();
    const reply = { success: true, token: 'next', expirationTimestamp: 1_800_000_000_000 + 60_000 };
    serve({ changePassword: () => ({ ...data(reply), headers: { date } }) });
    const before = Date.now();
    const session = await changePassword(owner, {
      password: 'a',
      new_password: 'b',
      new_salt: 'c',
    });
    expect(session.token).toBe('next');
    expect(session.expirationTimestamp - before).toBeGreaterThanOrEqual(59_000);
    expect(session.expirationTimestamp).toBeLessThanOrEqual(Date.now() + 59_000);
  });
});
