import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { expectNoAxeViolations, heading, logIn, toasts, visit } from './app';
import { answered, data, never, serve, type Call } from './server';

const KEY = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
const LONG = 'https://example.org/a/long/way';

const field = () => screen.getByRole<HTMLInputElement>('textbox', { name: 'Link to shorten' });
const results = () => screen.findByRole('list', { name: 'Short links of this visit' });
const section = () => screen.findByRole('region', { name: 'Made in this browser' });
const rows = async () => within(await section()).getAllByRole('listitem');
const row = async (code: string) => {
  const found = (await rows()).find((one) => one.textContent.includes(code));
  if (!found) throw new Error(`There is no row of ${code}`);
  return within(found);
};

export const link = (code: string, more: object = {}) => ({
  code,
  short_link: code,
  long_link: `https://example.org/${code}`,
  title: '',
  tags: [],
  state: 'active',
  reason: null,
  created_at: '2026-11-20T10:00:00Z',
  changed_at: null,
  expires_at: null,
  ended_url: null,
  public_statistics: false,
  views: 0,
  bots: 0,
  ...more,
});

/** A back end that knows what guests own, newest first. */
function serveGuests(owned: Record<string, ReturnType<typeof link>[]>, handlers = {}) {
  const removed = new Set<string>();
  const calls = serve({
    createShortLink: ({ code, url, guest }) => {
      const links = (owned[String(guest)] ??= []);
      links.unshift(link(String(code), { long_link: url, created_at: '2026-11-22T10:00:00Z' }));
      return data({ success: true, code, short_link: code });
    },
    showLinks: ({ guest, limit, cursor }) => {
      const all = (owned[String(guest)] ?? []).filter(({ code }) => !removed.has(code));
      const from = Number(cursor ?? 0);
      const to = from + Number(limit);
      return data({
        success: true,
        links: all.slice(from, to),
        total: all.length,
        cursor: to < all.length ? String(to) : null,
      });
    },
    removeLinks: ({ codes }) => {
      for (const code of codes as string[]) removed.add(code);
      return data({ success: true, removed: codes });
    },
    restoreLinks: ({ codes }) => {
      for (const code of codes as string[]) removed.delete(code);
      return data({ success: true, restored: codes });
    },
    ...handlers,
  });
  return { calls, removed };
}

const named = (calls: Call[], name: string) => calls.filter((call) => call.name === name);

describe('a guest', () => {
  it('gets a key with the first link, and keeps it', async () => {
    const { calls } = serveGuests({});
    const { user } = visit('/');
    expect(localStorage.getItem('guestKey')).toBeNull();
    await user.type(field(), `${LONG}/1{Enter}`);
    await results();
    const key = localStorage.getItem('guestKey') ?? '';
    expect(key).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(atob(key.replaceAll('-', '+').replaceAll('_', '/'))).toHaveLength(32);
    await user.type(field(), `${LONG}/2{Enter}`);
    await waitFor(() => expect(named(calls, 'createShortLink')).toHaveLength(2));
    for (const { payload } of named(calls, 'createShortLink'))
      expect(payload).toMatchObject({ token: null, guest: key });
    expect(document.documentElement.outerHTML).not.toContain(key);
    expect(location.href + document.title + JSON.stringify(history.state)).not.toContain(key);
  });

  it('has no key where the browser does not keep it', async () => {
    const { calls } = serveGuests({});
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    await results();
    expect(named(calls, 'createShortLink')[0]?.payload).toMatchObject({ token: null, guest: null });
    expect(named(calls, 'showLinks')).toEqual([]);
  });

  it.each(['x', `${KEY}A`, 'A'.repeat(42) + 'B'])('takes %s for no key', async (stored) => {
    localStorage.setItem('guestKey', stored);
    const { calls } = serveGuests({});
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    await results();
    const key = localStorage.getItem('guestKey');
    expect(key).not.toBe(stored);
    expect(named(calls, 'createShortLink')[0]?.payload['guest']).toBe(key);
  });

  it('uses the key that another tab made', async () => {
    const { calls } = serveGuests({});
    const { user } = visit('/');
    localStorage.setItem('guestKey', KEY);
    await user.type(field(), `${LONG}{Enter}`);
    await results();
    expect(named(calls, 'createShortLink')[0]?.payload['guest']).toBe(KEY);
  });

  it('is sent for no link of an account', async () => {
    localStorage.setItem('guestKey', KEY);
    logIn('my-token');
    const { calls } = serveGuests({});
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    await results();
    expect(named(calls, 'createShortLink')[0]?.payload).toMatchObject({
      token: 'my-token',
      guest: null,
    });
  });
});

describe('the links of a guest', () => {
  const owned = () => ({
    [KEY]: [
      link('newest00', { views: 1204, created_at: '2026-11-21T10:00:00Z' }),
      link('middle00', { views: 1, state: 'expired', created_at: '2026-11-20T10:00:00Z' }),
      link('oldest00', { views: null, created_at: '2026-11-19T10:00:00Z' }),
    ],
  });

  it('stand below the field, newest first, with views', async () => {
    localStorage.setItem('guestKey', KEY);
    const { calls } = serveGuests(owned());
    visit('/');
    const [newest, middle, oldest] = await rows();
    expect(newest).toHaveTextContent('localhost:3000/newest00https://example.org/newest00');
    expect(newest).toHaveTextContent('1,204 views');
    expect(middle).toHaveTextContent('Ended https://example.org/middle00');
    expect(middle).toHaveTextContent('1 view');
    expect(oldest).toHaveTextContent('– views');
    expect(named(calls, 'showLinks')[0]?.payload).toMatchObject({ token: null, guest: KEY });
    expect(localStorage.getItem('guestLinks')).toBe('3');
    await expectNoAxeViolations();
  });

  it('are not asked for where there is no guest', async () => {
    const { calls } = serveGuests({});
    visit('/');
    await heading('Long links, cut short.');
    await answered();
    expect(calls).toEqual([]);
  });

  it('are copied with their scheme, made into QR codes, shared, and lead to statistics', async () => {
    localStorage.setItem('guestKey', KEY);
    const share = vi.fn(() => Promise.resolve());
    Object.assign(navigator, { share });
    serveGuests(owned());
    const { user } = visit('/short-link');
    const first = await row('newest00');
    await user.click(first.getByRole('button', { name: /^Copy/ }));
    expect(await navigator.clipboard.readText()).toBe('http://localhost:3000/newest00');
    await user.click(first.getByRole('button', { name: /^Share/ }));
    expect(share).toHaveBeenCalledWith({ url: 'http://localhost:3000/newest00' });
    expect(first.getByRole('link', { name: /^Statistics/ })).toHaveAttribute(
      'href',
      '/links/newest00',
    );
    await user.click(first.getByRole('link', { name: /^QR/ }));
    await heading('CUSTOM QR CODE GENERATOR');
    expect(screen.getByRole('textbox', { name: 'URL' })).toHaveValue(
      'http://localhost:3000/newest00',
    );
    Reflect.deleteProperty(navigator, 'share');
  });

  it('are removed, and brought back where they stood', async () => {
    localStorage.setItem('guestKey', KEY);
    const { calls, removed } = serveGuests(owned());
    const { user } = visit('/');
    await user.click((await row('middle00')).getByRole('button', { name: /^Remove/ }));
    await screen.findByText(/was removed\.$/);
    expect([...removed]).toEqual(['middle00']);
    await answered();
    expect((await rows())[1]).toHaveTextContent('localhost:3000/middle00 was removed.');
    await expectNoAxeViolations();
    await user.click((await row('middle00')).getByRole('button', { name: /^Undo/ }));
    await waitFor(async () => expect((await rows())[1]).toHaveTextContent('1 view'));
    expect(named(calls, 'restoreLinks')[0]?.payload).toEqual({
      token: null,
      guest: KEY,
      codes: ['middle00'],
    });
    await answered();
    expect(await rows()).toHaveLength(3);
  });

  it('say so when they are not removed', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    localStorage.setItem('guestKey', KEY);
    serveGuests(owned(), { removeLinks: () => 'network error' });
    const { user } = visit('/');
    await user.click((await row('newest00')).getByRole('button', { name: /^Remove/ }));
    await waitFor(() => expect(toasts()).toContain('The link was not removed. Please try again.'));
    (await row('newest00')).getByRole('button', { name: /^Remove/ });
  });

  it('that were made just now stand at their place at once, and can be removed there', async () => {
    localStorage.setItem('guestKey', KEY);
    const { removed } = serveGuests(owned());
    const { user } = visit('/');
    await rows();
    await user.type(field(), `${LONG}{Enter}`);
    const plates = within(await results());
    await plates.findByRole('link', { name: /^0 views/ });
    expect(await rows()).toHaveLength(3);
    await user.click(plates.getByRole('button', { name: /^Remove/ }));
    await plates.findByText(/was removed\.$/);
    expect(removed.size).toBe(1);
    await user.click(plates.getByRole('button', { name: /^Undo/ }));
    await plates.findByRole('button', { name: new RegExp(LONG) });
    expect(removed.size).toBe(0);

    await user.click(plates.getByRole('button', { name: /^Remove/ }));
    await plates.findByText(/was removed\.$/);
    await user.click(screen.getByRole('link', { name: 'SHORTENER' }));
    await heading('Shorten a link');
    expect(await rows()).toHaveLength(3);
    expect(screen.queryByRole('list', { name: 'Short links of this visit' })).toBeNull();
  });

  it('come five at first, and more when they are wanted', async () => {
    localStorage.setItem('guestKey', KEY);
    const many = Array.from({ length: 27 }, (_, index) =>
      link(`code00${String(index).padStart(2, '0')}`),
    );
    serveGuests({ [KEY]: many });
    const { user } = visit('/');
    expect(await rows()).toHaveLength(5);
    await user.click(screen.getByRole('button', { name: 'Show more' }));
    await waitFor(async () => expect(await rows()).toHaveLength(25));
    await user.click(screen.getByRole('button', { name: 'Show more' }));
    await waitFor(async () => expect(await rows()).toHaveLength(27));
    expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull();
  });

  it('that do not load are asked for again', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    localStorage.setItem('guestKey', KEY);
    let down = true;
    serveGuests(owned(), {
      showLinks: () =>
        down
          ? 'network error'
          : data({ success: true, links: owned()[KEY], total: 3, cursor: null }),
    });
    const { user } = visit('/');
    const again = await screen.findByRole('button', { name: 'Try again' });
    screen.getByText('Your earlier links did not load.');
    await expectNoAxeViolations();
    down = false;
    await user.click(again);
    expect(await rows()).toHaveLength(3);
  });

  it('are not shown while an account is logged in, and are there again after it', async () => {
    localStorage.setItem('guestKey', KEY);
    serveGuests(owned(), { showProfile: never });
    visit('/');
    await rows();
    const elsewhere = (change: () => void) =>
      act(() => {
        change();
        window.dispatchEvent(new StorageEvent('storage', { key: 'userToken' }));
      });
    elsewhere(() => logIn());
    expect(screen.queryByRole('region', { name: 'Made in this browser' })).toBeNull();
    elsewhere(() => localStorage.removeItem('userToken'));
    expect(await rows()).toHaveLength(3);
  });
});
