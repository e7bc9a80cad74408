import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { expectNoAxeViolations, heading, logIn, toasts, visit } from './app';
import { answered, data, error, never, serve, type Call } from './server';

const KEY = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
const LONG = 'https://example.org/a/long/way';

const field = () => screen.getByRole<HTMLInputElement>('textbox', { name: 'Link to shorten' });
const results = () => screen.findByRole('list', { name: 'New short links' });
const section = () => screen.findByRole('region', { name: 'Created in this browser' });
const rows = async () => within(await section()).getAllByRole('listitem');
const row = async (code: string) => {
  const found = (await rows()).find((one) => one.textContent.includes(code));
  if (!found) throw new Error(`There is no row of ${code}`);
  return within(found);
};

export const link = (code: string, more: object = {}) => ({
  code,
  short_link: code,
  short_url: `https://atajo.example/${code}`,
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

/** Serves a backend with the links of guests, newest first. */
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
  it('gets a key with the first link, and keeps using it', async () => {
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

  it('has no key if the browser does not store it', async () => {
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

  it.each(['x', `${KEY}A`, 'A'.repeat(42) + 'B'])('does not accept %s as a key', async (stored) => {
    localStorage.setItem('guestKey', stored);
    const { calls } = serveGuests({});
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    await results();
    const key = localStorage.getItem('guestKey');
    expect(key).not.toBe(stored);
    expect(named(calls, 'createShortLink')[0]?.payload['guest']).toBe(key);
  });

  it('uses a key created in another tab', async () => {
    const { calls } = serveGuests({});
    const { user } = visit('/');
    localStorage.setItem('guestKey', KEY);
    await user.type(field(), `${LONG}{Enter}`);
    await results();
    expect(named(calls, 'createShortLink')[0]?.payload['guest']).toBe(KEY);
  });

  it('is not sent for links of an account', async () => {
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

  it('are listed below the field, newest first, with views', async () => {
    localStorage.setItem('guestKey', KEY);
    const { calls } = serveGuests(owned());
    visit('/');
    const [newest, middle, oldest] = await rows();
    expect(newest).toHaveTextContent('localhost:3000/newest00https://example.org/newest00');
    expect(newest).toHaveTextContent('1,204 views');
    expect(middle).toHaveTextContent('Expired https://example.org/middle00');
    expect(middle).toHaveTextContent('1 view');
    expect(oldest).toHaveTextContent('– views');
    expect(named(calls, 'showLinks')[0]?.payload).toMatchObject({ token: null, guest: KEY });
    expect(localStorage.getItem('guestLinks')).toBe('3');
    await expectNoAxeViolations();
  });

  it('are not requested without a guest key', async () => {
    const { calls } = serveGuests({});
    visit('/');
    await heading('Shorten, share and track your links');
    await answered();
    expect(calls).toEqual([]);
  });

  it('are copied with their scheme, offer QR codes and sharing, and link to statistics', async () => {
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

  it('are removed, and restored to their positions', async () => {
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

  it('show an error if they are not removed', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    localStorage.setItem('guestKey', KEY);
    serveGuests(owned(), { removeLinks: () => 'network error' });
    const { user } = visit('/');
    await user.click((await row('newest00')).getByRole('button', { name: /^Remove/ }));
    await waitFor(() => expect(toasts()).toContain('The link was not removed. Please try again.'));
    (await row('newest00')).getByRole('button', { name: /^Remove/ });
  });

  it('created just now appear as plates at once, and can be removed there', async () => {
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
    expect(screen.queryByRole('list', { name: 'New short links' })).toBeNull();
  });

  it('are five at first, and more on demand', async () => {
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

  it('can be requested again if they do not load', async () => {
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

  it('are hidden while an account is logged in, and shown again afterwards', async () => {
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
    expect(screen.queryByRole('region', { name: 'Created in this browser' })).toBeNull();
    elsewhere(() => localStorage.removeItem('userToken'));
    expect(await rows()).toHaveLength(3);
  });
});

describe('the offer to add a guest’s links to an account', () => {
  const WORDS = '2 links created in this browser are not in your account yet.';
  const owned = () => ({ [KEY]: [link('newest00'), link('oldest00')] });
  const line = () => screen.findByRole('region', { name: 'Links created in this browser' });
  const noLine = () =>
    waitFor(() =>
      expect(screen.queryByRole('region', { name: 'Links created in this browser' })).toBeNull(),
    );
  const claims = (links: Record<string, unknown[]>) => ({
    claimLinks: ({ guest }: Call['payload']) => {
      const claimed = (links[String(guest)] ?? []).length;
      links[String(guest)] = [];
      return data({ success: true, claimed });
    },
  });

  it('appears on every page, and needs one click', async () => {
    localStorage.setItem('guestKey', KEY);
    logIn('my-token');
    const links = owned();
    const { calls } = serveGuests(links, claims(links));
    const { user } = visit('/custom-qr-generator');
    expect(await line()).toHaveTextContent(WORDS);
    await waitFor(() => expect(screen.getByRole('status')).toHaveTextContent(WORDS));
    await expectNoAxeViolations();
    expect(named(calls, 'showLinks').every(({ payload }) => payload['limit'] === 1)).toBe(true);
    await user.click(screen.getByRole('button', { name: 'Add them to my account' }));
    await noLine();
    expect(named(calls, 'claimLinks')).toEqual([
      { name: 'claimLinks', payload: { token: 'my-token', guest: KEY } },
    ]);
    expect(localStorage.getItem('guestKey')).toBeNull();
    await screen.findByText('2 links were added to your account.');
  });

  it('does not appear again for a key after it was declined', async () => {
    localStorage.setItem('guestKey', KEY);
    logIn();
    const { calls } = serveGuests(owned());
    const { user, unmount } = visit('/');
    await line();
    await user.click(screen.getByRole('button', { name: 'No, thanks' }));
    await noLine();
    expect(localStorage.getItem('guestKey')).toBe(KEY);
    unmount();
    calls.length = 0;
    visit('/');
    await heading('Shorten, share and track your links');
    await answered();
    expect(calls).toEqual([]);
  });

  it('does not appear if the guest has no links', async () => {
    localStorage.setItem('guestKey', KEY);
    logIn();
    const { calls } = serveGuests({});
    visit('/');
    await waitFor(() => expect(calls).toHaveLength(1));
    await answered();
    await noLine();
  });

  it('can be accepted again after a failure', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    localStorage.setItem('guestKey', KEY);
    logIn();
    const links = owned();
    let down = true;
    const { claimLinks } = claims(links);
    serveGuests(links, {
      claimLinks: (payload: Call['payload']) => (down ? 'network error' : claimLinks(payload)),
    });
    const { user } = visit('/');
    await line();
    const take = screen.getByRole('button', { name: 'Add them to my account' });
    await user.click(take);
    await waitFor(() =>
      expect(toasts()).toContain('The links were not added to your account. Please try again.'),
    );
    expect(localStorage.getItem('guestKey')).toBe(KEY);
    down = false;
    await user.click(take);
    await noLine();
  });

  it('says what to do if the account is full', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    localStorage.setItem('guestKey', KEY);
    logIn();
    serveGuests(owned(), {
      claimLinks: () => error(429, 'RESOURCE_EXHAUSTED', {}, { reason: 'ACCOUNT_FULL' }),
    });
    const { user } = visit('/');
    await line();
    await user.click(screen.getByRole('button', { name: 'Add them to my account' }));
    await waitFor(() =>
      expect(toasts()).toContain(
        'Your account has 1,000,000 links, the maximum. Remove some: they make room after 30 days.',
      ),
    );
    expect(localStorage.getItem('guestKey')).toBe(KEY);
  });

  it('ends a session whose token is refused', async () => {
    localStorage.setItem('guestKey', KEY);
    logIn();
    serveGuests(owned(), { claimLinks: () => data({ success: false, error: 'invalid token' }) });
    const { user } = visit('/');
    await line();
    await user.click(screen.getByRole('button', { name: 'Add them to my account' }));
    await waitFor(() => expect(localStorage.getItem('userToken')).toBeNull());
    expect(await rows()).toHaveLength(2);
  });

  it('includes a link that was being created with the old key', async () => {
    localStorage.setItem('guestKey', KEY);
    const links = owned();
    let answer: () => void = () => undefined;
    const { calls } = serveGuests(links, {
      ...claims(links),
      createShortLink: ({ code }: Call['payload']) =>
        new Promise((resolve) => {
          answer = () => {
            links[KEY] = [link(String(code))];
            resolve(data({ success: true, code, short_link: code }));
          };
        }),
    });
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    await waitFor(() => expect(named(calls, 'createShortLink')).toHaveLength(1));
    act(() => {
      logIn('my-token');
      window.dispatchEvent(new StorageEvent('storage', { key: 'userToken' }));
    });
    await line();
    await user.click(screen.getByRole('button', { name: 'Add them to my account' }));
    await waitFor(() => expect(named(calls, 'claimLinks')).toHaveLength(1));
    await waitFor(() => expect(localStorage.getItem('guestKey')).toBeNull());
    answer();
    await waitFor(() => expect(named(calls, 'claimLinks')).toHaveLength(2));
    expect(named(calls, 'claimLinks')[1]?.payload).toEqual({ token: 'my-token', guest: KEY });
    await waitFor(() => expect(localStorage.getItem('guestKey')).toBeNull());
    expect(links[KEY]).toEqual([]);
  });

  it('restores the key for a link that was being created, if nobody is logged in anymore', async () => {
    localStorage.setItem('guestKey', KEY);
    const links = owned();
    let answer: () => void = () => undefined;
    const { calls } = serveGuests(links, {
      createShortLink: ({ code }: Call['payload']) =>
        new Promise((resolve) => {
          answer = () => resolve(data({ success: true, code, short_link: code }));
        }),
    });
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    await waitFor(() => expect(named(calls, 'createShortLink')).toHaveLength(1));
    act(() => {
      localStorage.removeItem('guestKey');
      window.dispatchEvent(new StorageEvent('storage', { key: 'guestKey' }));
    });
    answer();
    await waitFor(() => expect(localStorage.getItem('guestKey')).toBe(KEY));
    expect(await rows()).toHaveLength(2);
  });
});

describe('a custom ending', () => {
  const ending = () => screen.findByRole<HTMLInputElement>('textbox', { name: 'Custom ending' });
  const open = async (handlers: Parameters<typeof serve>[0]) => {
    logIn();
    const calls = serve(handlers);
    const { user } = visit('/');
    await user.click(await screen.findByText('Customize'));
    return { user, calls };
  };
  const shortens = ({ code }: Call['payload']) => data({ success: true, code, short_link: code });

  it('is offered to accounts only', async () => {
    serve({});
    const { user } = visit('/');
    await user.click(await screen.findByText('Customize'));
    await screen.findByRole('group', { name: 'Campaign tags' });
    expect(screen.queryByRole('textbox', { name: 'Custom ending' })).toBeNull();
  });

  it('shows at once whether it is available, and is used once', async () => {
    const { user, calls } = await open({
      accessLink: () => data({ success: true, longUrl: [] }),
      createShortLink: shortens,
    });
    await user.type(await ending(), 'fiesta-2026');
    await screen.findByText('is available.', { exact: false });
    expect(named(calls, 'accessLink').at(-1)?.payload).toEqual({ code: 'fiesta-2026' });
    await expectNoAxeViolations();
    await user.type(field(), `${LONG}{Enter}`);
    await results();
    expect(named(calls, 'createShortLink')[0]?.payload['code']).toBe('fiesta-2026');
    expect(await ending()).toHaveValue('');
  });

  it.each([
    ['abc', 'Enter 4 to 32 characters.'],
    ['a'.repeat(33), 'Enter 4 to 32 characters.'],
    ['año-nuevo', 'Use only the letters A to Z, digits, hyphens and underscores.'],
    ['Dashboard', 'This ending is reserved.'],
  ])('refuses %s without a request', async (text, message) => {
    const { user, calls } = await open({ createShortLink: shortens });
    // All at once: slow typing would check each intermediate text.
    await user.click(await ending());
    await user.paste(text);
    expect(await ending()).toHaveAccessibleDescription(expect.stringContaining(message));
    await user.type(field(), `${LONG}{Enter}`);
    expect(await ending()).toHaveFocus();
    expect(field()).toHaveValue(LONG);
    expect(calls).toEqual([]);
    await expectNoAxeViolations();
  });

  it('says that it is taken, and keeps the text of the fields', async () => {
    const { user, calls } = await open({
      accessLink: () => data({ success: true, longUrl: [{ long_link: LONG }] }),
    });
    await user.type(await ending(), 'fiesta');
    await screen.findByText('This ending is taken.');
    await user.type(field(), `${LONG}{Enter}`);
    expect(named(calls, 'createShortLink')).toEqual([]);
    expect(await ending()).toHaveValue('fiesta');
  });

  it('says when it was taken at the last moment', async () => {
    const { user, calls } = await open({
      accessLink: () => data({ success: true, longUrl: [] }),
      createShortLink: () => error(409, 'ABORTED'),
    });
    await user.type(await ending(), 'fiesta');
    await screen.findByText('is available.', { exact: false });
    await user.type(field(), `${LONG}{Enter}`);
    await screen.findByText('This ending is taken.');
    expect(await ending()).toHaveValue('fiesta');
    expect(await ending()).toHaveFocus();
    expect(field()).toHaveValue(LONG);
    expect(screen.queryByText('Shortening')).toBeNull();
    expect(named(calls, 'createShortLink')).toHaveLength(1);
  });

  it('is not shown as available while the server does not respond', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    const { user } = await open({ accessLink: () => 'network error' });
    await user.type(await ending(), 'fiesta');
    await screen.findByText('Could not check whether this ending is available.');
  });
});
