import { act, cleanup, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import type { Link } from '../src/api';
import { expectNoAxeViolations, heading, HOUR, logIn, menuLinks, visit } from './app';
import { link, page } from './links';
import { answered, data, error, held, never, serve, type Reply } from './server';

const LINKS = [
  link('k7Qm2_xB', 'https://example.org/rutas/senderos-locales/2026', { views: 1204 }),
  link('Zt0-aaQ9', 'https://docs.example.com/', { views: 1 }),
];
const table = () => screen.findByRole('table', { name: 'Your links' });

describe('the account page', () => {
  it('shows a spinner, then the links', async () => {
    logIn('my-token');
    localStorage.setItem('username', 'Marta');
    const lists = held();
    const calls = serve({ showLinks: lists.ask });
    visit('/my-account');
    await heading('Your links');
    await screen.findByRole('img', { name: 'Loading your links' });
    await waitFor(() => expect(lists.given).toHaveLength(1));
    for (const answer of lists.given) answer(page(LINKS));
    const rows = within(await table()).getAllByRole('row');
    expect(calls).toEqual([
      {
        name: 'showLinks',
        payload: {
          token: 'my-token',
          guest: null,
          query: null,
          state: null,
          order: 'newest',
          limit: 100,
          cursor: null,
          recent: true,
        },
      },
    ]);
    expect(rows).toHaveLength(3);
    const [choose, words, views] = within(rows[1] as HTMLElement).getAllByRole('cell');
    within(choose as HTMLElement).getByRole('checkbox', { name: /k7Qm2_xB/ });
    expect(words).toHaveTextContent('localhost:3000/k7Qm2_xB');
    expect(words).toHaveTextContent('https://example.org/rutas/senderos-locales/2026');
    expect(within(views as HTMLElement).getByRole('link')).toHaveAttribute(
      'href',
      '/links/k7Qm2_xB',
    );
    expect(views).toHaveTextContent('1,204 views');
    expect(within(words as HTMLElement).getByRole('link')).toHaveAttribute(
      'rel',
      'noopener noreferrer',
    );
    screen.getByText('Marta');
    await expectNoAxeViolations();
  });

  it('copies a short URL with its scheme', async () => {
    logIn();
    serve({ showLinks: () => page(LINKS) });
    const { user } = visit('/my-account');
    await table();
    await user.click(screen.getByRole('button', { name: 'localhost:3000/Zt0-aaQ9' }));
    expect(await navigator.clipboard.readText()).toBe('http://localhost:3000/Zt0-aaQ9');
    await waitFor(() => expect(screen.getByRole('status')).toHaveTextContent(/\bCopied\b/));
  });

  it('says that there are no links, and shows the first created one', async () => {
    logIn();
    let made: Link[] = [];
    serve({
      showLink: never,
      showLinks: () => page(made),
      createShortLink: ({ code, url }) => {
        made = [link(String(code), String(url))];
        return data({ success: true, code, short_link: code });
      },
    });
    const { user } = visit('/my-account');
    await screen.findByText(/You have no links yet/);
    await expectNoAxeViolations();
    await user.type(
      screen.getByRole('textbox', { name: 'Link to shorten' }),
      'https://example.org/first{Enter}',
    );
    expect(await table()).toHaveTextContent('https://example.org/first');
  });

  it('redirects to the home page without a token', async () => {
    const calls = serve({});
    visit('/my-account');
    await heading('Shorten, share and track your links');
    expect(location.pathname).toBe('/');
    expect(calls).toEqual([]);
  });

  it('removes an invalid token and redirects to the home page', async () => {
    logIn();
    const refused = () => data({ success: false, error: 'invalid token' });
    serve({ showLinks: refused, showStatistics: refused });
    visit('/my-account');
    await heading('Shorten, share and track your links');
    expect(localStorage.getItem('userToken')).toBeNull();
    expect(menuLinks()).toContain('LOGIN');
  });

  it('asks to log in again after the session has ended, and leads back', async () => {
    logIn('old', -1);
    const calls = serve({
      verifyUser: () =>
        data({
          success: true,
          token: 'new',
          expirationTimestamp: Date.now() + HOUR,
          username: 'Marta',
          device: '',
        }),
      showLinks: () => page(LINKS),
    });
    const { user } = visit('/my-account?from=mail#x');
    await heading('Log in');
    screen.getByText('Your session has ended. Please log in again.');
    expect(location.pathname).toBe('/login');
    expect(localStorage.getItem('userToken')).toBeNull();
    await expectNoAxeViolations();
    await user.type(screen.getByRole('textbox', { name: 'Email' }), 'marta@example.org');
    await user.type(screen.getByLabelText('Password'), 'Senderos-1{Enter}');
    await table();
    expect(location.pathname + location.search + location.hash).toBe('/my-account?from=mail#x');
    expect(calls.at(-1)?.payload['token']).toBe('new');
  });

  it('says when the session ends while the page is open', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    logIn('short', HOUR);
    serve({ showLinks: () => page(LINKS) });
    visit('/my-account');
    await table();
    act(() => void vi.advanceTimersByTime(HOUR));
    await heading('Log in');
    screen.getByText('Your session has ended. Please log in again.');
  });

  it('says that the session has ended when the server refuses a token that it accepted before', async () => {
    logIn('revoked-token');
    let taken = true;
    serve({
      showLinks: () => (taken ? page(LINKS) : data({ success: false, error: 'invalid token' })),
    });
    visit('/my-account');
    await table();
    taken = false;
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 6_000);
    act(() => void window.dispatchEvent(new Event('focus')));
    await heading('Log in');
    screen.getByText('Your session has ended. Please log in again.');
    expect(localStorage.getItem('userToken')).toBeNull();
  });

  it('says that the session has ended on another page or in another tab', async () => {
    logIn('old', -1);
    serve({ showLinks: never });
    const { user } = visit('/');
    await heading('Shorten, share and track your links');
    expect(screen.queryByText(/session has ended/)).toBeNull();
    cleanup();
    visit('/my-account');
    await heading('Log in');
    screen.getByText('Your session has ended. Please log in again.');
    // A visitor who comes by the menu was not on a page of an owner.
    await user.click(screen.getByRole('link', { name: 'HOME' }));
    await user.click(screen.getByRole('link', { name: 'LOGIN' }));
    await heading('Log in');
    expect(screen.queryByText(/session has ended/)).toBeNull();
  });

  it('leads back after a registration, too', async () => {
    logIn('old', -1);
    serve({
      registerUser: () => data({ success: true }),
      verifyUser: () =>
        data({
          success: true,
          token: 'new',
          expirationTimestamp: Date.now() + HOUR,
          username: 'Marta',
          device: '',
        }),
      showLinks: () => page(LINKS),
    });
    const { user } = visit('/my-account');
    await heading('Log in');
    await user.click(screen.getByRole('link', { name: 'Register' }));
    await heading('Register');
    await user.type(screen.getByRole('textbox', { name: 'Email' }), 'marta@example.org');
    await user.type(screen.getByLabelText('Password'), 'Senderos-1');
    await user.type(screen.getByRole('textbox', { name: 'Username' }), 'Marta{Enter}');
    await heading('Log in');
    await user.type(screen.getByLabelText('Password'), 'Senderos-1{Enter}');
    await table();
  });

  it('keeps a session that began while the server refused an older token', async () => {
    logIn('old');
    let answer: (reply: object) => void = () => undefined;
    serve({
      showLinks: ({ token }) =>
        token === 'old' ? new Promise((resolve) => (answer = resolve)) : page(LINKS),
    });
    visit('/my-account');
    await screen.findByRole('img', { name: 'Loading your links' });
    await waitFor(() => expect(answer).toHaveLength(1));
    // Another tab has logged in again, and this one has not noticed it yet.
    logIn('new');
    answer(data({ success: false, error: 'invalid token' }));
    await answered();
    expect(localStorage.getItem('userToken')).toContain('"new"');
    act(() => void window.dispatchEvent(new StorageEvent('storage', { key: 'userToken' })));
    await table();
  });

  it('redirects to the home page when the server reports no login', async () => {
    logIn();
    serve({ showLinks: () => data({ success: false, error: 'no logged' }) });
    visit('/my-account');
    await heading('Shorten, share and track your links');
    expect(location.pathname).toBe('/');
  });

  it('says when the links do not load, and retries', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    logIn();
    let down = true;
    serve({
      showLinks: () => (down ? error(503, 'UNAVAILABLE') : page(LINKS)),
    });
    const { user } = visit('/my-account');
    await waitFor(() => {
      expect(screen.getAllByText('Error on loading user data').length).toBeGreaterThan(0);
    });
    await expectNoAxeViolations();
    const again = await screen.findByRole('button', { name: 'Try again' });
    await user.click(again);
    await waitFor(() => expect(again).not.toHaveAttribute('aria-busy'));
    expect(again).toHaveFocus();
    down = false;
    await user.click(again);
    await table();
    expect(again).not.toBeInTheDocument();
    expect(document.querySelector('main')).toContainElement(document.activeElement as HTMLElement);
  });

  it('refreshes the views when the window gets the focus again', async () => {
    logIn();
    let views = 1;
    serve({
      showLinks: () => page([link('k7Qm2_xB', 'https://a.b/', { views })]),
    });
    visit('/my-account');
    await table();
    views = 77;
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 6_000);
    act(() => void window.dispatchEvent(new Event('focus')));
    await screen.findByText('77');
  });

  it('removes the plates of the account on logout, and keeps earlier ones', async () => {
    serve({
      showLinks: never,
      createShortLink: ({ code }) => data({ success: true, code, short_link: code }),
    });
    const { user } = visit('/');
    const shorten = async (url: string) => {
      await user.type(screen.getByRole('textbox', { name: 'Link to shorten' }), `${url}{Enter}`);
      await screen.findByRole('button', { name: new RegExp(url) });
    };
    await shorten('https://example.org/guest');
    act(() => {
      logIn();
      window.dispatchEvent(new StorageEvent('storage', { key: 'userToken' }));
    });
    await shorten('https://example.org/account');
    await user.click(screen.getByRole('link', { name: 'MY ACCOUNT' }));
    await user.click(await screen.findByRole('button', { name: 'Log out' }));
    await heading('Shorten, share and track your links');
    screen.getByRole('button', { name: /guest/ });
    expect(screen.queryByText(/example.org.account/)).toBeNull();
  });

  it('shows cached links at once on return, without a request', async () => {
    logIn();
    // The clock stands still, so that the links stay fresh.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const calls = serve({ showLinks: () => page(LINKS) });
    const { user } = visit('/my-account');
    await table();
    await user.click(screen.getByRole('link', { name: 'SHORTENER' }));
    await heading('Shorten a link');
    await user.click(screen.getByRole('link', { name: 'MY ACCOUNT' }));
    expect(screen.getByRole('table', { name: 'Your links' })).toHaveTextContent('1,204');
    // A request would be made in a timer before this one.
    await act(() => new Promise((resolve) => setTimeout(resolve)));
    expect(calls).toHaveLength(1);
  });

  it('drops the data of an account that was logged out on another page', async () => {
    logIn('one');
    let answer: () => ReturnType<typeof never> | ReturnType<typeof data> = () => page(LINKS);
    serve({ showLinks: () => answer() });
    const { user } = visit('/my-account');
    await table();
    await user.click(screen.getByRole('link', { name: 'HOME' }));
    const elsewhere = (change: () => void) =>
      act(() => {
        change();
        window.dispatchEvent(new StorageEvent('storage', { key: 'userToken' }));
      });
    elsewhere(() => localStorage.removeItem('userToken'));
    elsewhere(() => logIn('one'));
    answer = never;
    await user.click(screen.getByRole('link', { name: 'MY ACCOUNT' }));
    await screen.findByText('Loading your links');
    expect(screen.queryByRole('table')).toBeNull();
  });

  it('shows no plate of a link whose response arrives after logout', async () => {
    logIn();
    let answer: (reply: object) => void = () => undefined;
    const calls = serve({
      createShortLink: () => new Promise((resolve) => (answer = resolve)),
    });
    const { user } = visit('/short-link');
    await user.type(
      await screen.findByRole('textbox', { name: 'Link to shorten' }),
      'https://example.org/account{Enter}',
    );
    await waitFor(() => expect(calls).toHaveLength(1));
    act(() => {
      localStorage.removeItem('userToken');
      window.dispatchEvent(new StorageEvent('storage', { key: 'userToken' }));
    });
    const { code } = calls[0]?.payload ?? {};
    answer(data({ success: true, code, short_link: code }));
    await waitFor(() => expect(screen.queryByText('Shortening')).toBeNull());
    expect(screen.queryByText(/example.org.account/)).toBeNull();
  });

  it('refetches on a later return, and does not render unchanged rows again', async () => {
    logIn();
    let links = [...LINKS];
    const calls = serve({
      showLinks: () => page(links),
    });
    const { user } = visit('/my-account');
    await table();
    const comeBack = async () => {
      await user.click(screen.getByRole('link', { name: 'HOME' }));
      const later = Date.now() + 6_000;
      vi.spyOn(Date, 'now').mockReturnValue(later);
      await user.click(screen.getByRole('link', { name: 'MY ACCOUNT' }));
    };
    // Each rendered row selects a plural for its views.
    const rendered = vi.spyOn(Intl.PluralRules.prototype, 'select');
    const renderedOf = (views: number) =>
      rendered.mock.calls.filter(([number]) => number === views).length;
    await comeBack();
    await waitFor(() => expect(calls).toHaveLength(2));
    await answered();
    expect([renderedOf(1204), renderedOf(1)]).toEqual([1, 1]);

    links = [link('k7Qm2_xB', LINKS[0]?.long_link ?? '', { views: 1205 }), ...LINKS.slice(1)];
    rendered.mockClear();
    await comeBack();
    await screen.findByText('1,205');
    expect([renderedOf(1205), renderedOf(1)]).toEqual([1, 1]);
  });

  it('refetches at once if a link was created meanwhile', async () => {
    logIn();
    let made = LINKS;
    serve({
      showLink: never,
      showLinks: () => page(made),
      createShortLink: ({ code, url }) => {
        made = [link(String(code), String(url)), ...made];
        return data({ success: true, code, short_link: code });
      },
    });
    const { user } = visit('/my-account');
    await table();
    await user.click(screen.getByRole('link', { name: 'SHORTENER' }));
    await heading('Shorten a link');
    const field = screen.getByRole('textbox', { name: 'Link to shorten' });
    await user.type(field, 'https://example.org/new{Enter}');
    await screen.findByRole('list', { name: 'New short links' });
    await user.click(screen.getByRole('link', { name: 'MY ACCOUNT' }));
    await screen.findByText('3 links');
    expect(await table()).toHaveTextContent('https://example.org/new');
  });

  it('shows a link created meanwhile at once, before the server responds', async () => {
    logIn();
    let answer = () => page(LINKS) as ReturnType<typeof never> | Reply;
    serve({
      showLink: never,
      showLinks: () => answer(),
      createShortLink: ({ code }) => data({ success: true, code, short_link: code }),
    });
    const { user } = visit('/my-account');
    await table();
    await user.click(screen.getByRole('link', { name: 'SHORTENER' }));
    await heading('Shorten a link');
    const field = screen.getByRole('textbox', { name: 'Link to shorten' });
    await user.type(field, 'https://example.org/new{Enter}');
    await screen.findByRole('list', { name: 'New short links' });
    answer = never;
    await user.click(screen.getByRole('link', { name: 'MY ACCOUNT' }));
    screen.getByText('3 links', { selector: 'label span' });
    const rows = within(await table()).getAllByRole('row');
    expect(rows[1]).toHaveTextContent('https://example.org/new');
    expect(rows[2]).toHaveTextContent('k7Qm2_xB');
  });

  it('ignores a response to a request from before a link was created', async () => {
    logIn();
    const answers: ((reply: Reply) => void)[] = [];
    serve({
      showLink: never,
      showLinks: () => new Promise<Reply>((resolve) => answers.push(resolve)),
      createShortLink: ({ code }) => data({ success: true, code, short_link: code }),
    });
    const { user } = visit('/my-account');
    await waitFor(() => expect(answers).toHaveLength(1));
    answers[0]?.(page([]));
    const field = await screen.findByRole('textbox', { name: 'Link to shorten' });
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 6_000);
    act(() => void window.dispatchEvent(new Event('focus')));
    await waitFor(() => expect(answers).toHaveLength(2));
    await user.type(field, 'https://example.org/new{Enter}');
    await table();
    await waitFor(() => expect(answers).toHaveLength(3));
    answers[1]?.(page([]));
    await act(() => new Promise((resolve) => setTimeout(resolve)));
    expect(await table()).toHaveTextContent('https://example.org/new');
  });

  it('makes requests even offline, and says that they failed', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    logIn();
    const calls = serve({ showLinks: () => 'network error' });
    const { user } = visit('/my-account');
    const again = await screen.findByRole('button', { name: 'Try again' });
    act(() => void window.dispatchEvent(new Event('offline')));
    await user.click(again);
    await waitFor(() => expect(calls).toHaveLength(2));
    await waitFor(() => expect(again).not.toHaveAttribute('aria-busy'));
    act(() => void window.dispatchEvent(new Event('online')));
  });

  it('does not refetch on every focus after the server just failed', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    logIn();
    const start = Date.now();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(start);
    const calls = serve({ showLinks: () => error(503, 'UNAVAILABLE') });
    visit('/my-account');
    await screen.findByRole('button', { name: 'Try again' });
    const look = () => act(() => void window.dispatchEvent(new Event('focus')));
    clock.mockReturnValue(start + 4_000);
    look();
    await answered();
    expect(calls).toHaveLength(1);
    clock.mockReturnValue(start + 6_000);
    look();
    await waitFor(() => expect(calls).toHaveLength(2));
  });

  it('shows no data of one account to another', async () => {
    logIn('one');
    serve({
      showLinks: ({ token }) => (token === 'one' ? page(LINKS) : never()),
    });
    const { user } = visit('/my-account');
    await table();
    await user.click(screen.getByRole('link', { name: 'HOME' }));
    logIn('two');
    await user.click(screen.getByRole('link', { name: 'MY ACCOUNT' }));
    await screen.findByText('Loading your links');
    expect(screen.queryByRole('table')).toBeNull();
  });

  it('shows a dash for unknown views, and explains it once', async () => {
    logIn();
    const unknown = LINKS.map((one) => ({ ...one, views: null }));
    serve({ showLinks: () => page(unknown) });
    visit('/my-account');
    const rows = within(await table()).getAllByRole('row');
    expect(rows).toHaveLength(3);
    for (const row of rows.slice(1)) {
      expect(within(row).getAllByRole('cell').at(-2)).toHaveTextContent(/^– views unknown/);
    }
    expect(
      screen.getAllByText('View counts are temporarily unavailable.', { selector: 'p' }),
    ).toHaveLength(1);
    expect(screen.getByRole('status')).toHaveTextContent(
      'View counts are temporarily unavailable.',
    );
    await expectNoAxeViolations();
  });

  it('logs out', async () => {
    logIn();
    serve({ showLinks: never });
    const { user } = visit('/my-account');
    await user.click(await screen.findByRole('button', { name: 'Log out' }));
    await heading('Shorten, share and track your links');
    expect(localStorage.getItem('userToken')).toBeNull();
    expect(menuLinks()).toContain('LOGIN');
  });
});
