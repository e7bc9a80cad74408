import { act, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { expectNoAxeViolations, heading, HOUR, logIn, menuLinks, visit } from './app';

const LOGGED_OUT = ['HOME', 'SHORTENER', 'QR CODE', 'LOGIN', 'REGISTER'];
const LOGGED_IN = ['HOME', 'SHORTENER', 'QR CODE', 'MY ACCOUNT'];

const fromOtherTab = (key: string | null) =>
  act(() => void window.dispatchEvent(new StorageEvent('storage', { key })));

describe('the menu', () => {
  it('differs for visitors and logged-in users', () => {
    visit('/');
    expect(menuLinks()).toEqual(LOGGED_OUT);
  });

  it('shows MY ACCOUNT to a visitor with a valid token', () => {
    logIn();
    visit('/');
    expect(menuLinks()).toEqual(LOGGED_IN);
  });

  it('removes an expired token when the page loads', () => {
    logIn('old', -1);
    visit('/');
    expect(menuLinks()).toEqual(LOGGED_OUT);
    expect(localStorage.getItem('userToken')).toBeNull();
  });

  it('notices an expiry while the page is open', () => {
    vi.useFakeTimers();
    logIn('short', HOUR);
    visit('/');
    expect(menuLinks()).toEqual(LOGGED_IN);
    act(() => void vi.advanceTimersByTime(HOUR));
    expect(menuLinks()).toEqual(LOGGED_OUT);
    expect(localStorage.getItem('userToken')).toBeNull();
  });

  it.each([
    'x',
    '{}',
    'null',
    '[]',
    '{"token":1}',
    '{"token":"t","expirationTimestamp":"soon"}',
    '{"token":"","expirationTimestamp":9e15}',
  ])('does not accept %s in storage as a token', (garbage) => {
    localStorage.setItem('userToken', garbage);
    visit('/');
    expect(menuLinks()).toEqual(LOGGED_OUT);
  });

  it('follows logins and logouts in another tab', () => {
    visit('/');
    logIn();
    fromOtherTab('userToken');
    expect(menuLinks()).toEqual(LOGGED_IN);
    localStorage.clear();
    fromOtherTab(null);
    expect(menuLinks()).toEqual(LOGGED_OUT);
  });

  it('marks the current page', async () => {
    visit('/login');
    await heading('Log in');
    expect(screen.getByRole('link', { current: 'page' })).toHaveTextContent('LOGIN');
  });

  it('opens as a sheet, keeps the focus and locks the page', async () => {
    const { user } = visit('/');
    const button = screen.getByRole('button', { name: 'Menu' });
    expect(button).toHaveAttribute('aria-expanded', 'false');
    await user.click(button);
    expect(button).toHaveAttribute('aria-expanded', 'true');
    expect(document.documentElement).toHaveAttribute('data-locked');
    expect(document.querySelector('main')).toHaveAttribute('inert');
    await expectNoAxeViolations();

    screen.getByRole('link', { name: 'REGISTER' }).focus();
    await user.tab();
    expect(screen.getByRole('link', { name: 'Atajo' })).toHaveFocus();
    await user.tab({ shift: true });
    expect(screen.getByRole('link', { name: 'REGISTER' })).toHaveFocus();

    await user.keyboard('{Escape}');
    expect(button).toHaveAttribute('aria-expanded', 'false');
    expect(button).toHaveFocus();
    expect(document.documentElement).not.toHaveAttribute('data-locked');
  });

  it('closes on a route change', async () => {
    const { user } = visit('/');
    await user.click(screen.getByRole('button', { name: 'Menu' }));
    await user.click(screen.getByRole('link', { name: 'LOGIN' }));
    await heading('Log in');
    expect(screen.getByRole('button', { name: 'Menu' })).toHaveAttribute('aria-expanded', 'false');
  });

  it('closes when the window grows', async () => {
    const query = Object.assign(new EventTarget(), { matches: true });
    vi.spyOn(window, 'matchMedia').mockReturnValue(query as unknown as MediaQueryList);
    const { user } = visit('/login');
    await user.click(screen.getByRole('button', { name: 'Menu' }));
    act(() => void query.dispatchEvent(new Event('change')));
    expect(screen.getByRole('button', { name: 'Menu' })).toHaveAttribute('aria-expanded', 'false');
  });
});

describe('the frame', () => {
  it('has a footer with two links and two disabled ones', () => {
    visit('/');
    const footer = within(screen.getByRole('navigation', { name: 'Footer' }));
    expect(footer.getByRole('link', { name: 'TERMS OF USE' })).toHaveAttribute(
      'href',
      '/terms-of-use',
    );
    expect(footer.getByRole('link', { name: 'PRIVACY POLICIES' })).toHaveAttribute(
      'href',
      '/privacy-policies',
    );
    for (const name of ['PORTFOLIO', 'CONTACT']) {
      const link = footer.getByRole('link', { name });
      expect(link).toHaveAttribute('aria-disabled', 'true');
      expect(link).not.toHaveAttribute('href');
    }
  });

  it('moves the focus to the heading on a route change', async () => {
    const { user } = visit('/');
    await user.click(screen.getByRole('link', { name: 'REGISTER' }));
    const title = await heading('Register');
    await waitFor(() => expect(title).toHaveFocus());
    expect(document.title).toBe('Register · Atajo');
  });

  it('saves the theme', async () => {
    const { user, unmount } = visit('/');
    await user.selectOptions(screen.getByRole('combobox', { name: 'Theme' }), 'dark');
    expect(document.documentElement).toHaveAttribute('data-theme', 'dark');
    expect(localStorage.getItem('theme')).toBe('dark');
    unmount();
    visit('/');
    expect(screen.getByRole('combobox', { name: 'Theme' })).toHaveValue('dark');
    await user.selectOptions(screen.getByRole('combobox', { name: 'Theme' }), 'system');
    expect(document.documentElement).not.toHaveAttribute('data-theme');
    expect(localStorage.getItem('theme')).toBeNull();
  });
});

describe('the legal pages', () => {
  it.each([
    [
      '/terms-of-use',
      'Terms of use',
      [
        '999 characters',
        'your email, your encrypted password, its salt, your username and the creation date',
        'its code, the original URL and the creation date',
        'the id of their creator and the visit count',
        'You can restore it, with its views, for 30 days',
        'never reused',
        'Spanish law',
        'European Union',
      ],
    ],
    [
      '/privacy-policies',
      'Privacy policies',
      [
        'No IP address is stored',
        'bcrypt',
        'Title and tags',
        'The original destination, earlier destinations and the times at which they were changed',
        'guestKey',
        'The server stores only the SHA-256 hash of the key',
        'You can restore a removed link for 30 days',
        'The details of the first five reports that had any, the email address if one was given, and the time',
        'deleted 90 days after the operator has decided on them',
      ],
    ],
  ])('%s shows its text', async (path, title, says) => {
    visit(path);
    await heading(title);
    for (const text of says) expect(document.body).toHaveTextContent(text);
    const contents = within(screen.getByRole('navigation', { name: 'Contents' }));
    for (const link of contents.getAllByRole('link')) {
      const target = document.querySelector(link.getAttribute('href') ?? '');
      expect(target).toHaveTextContent(link.textContent);
    }
    await expectNoAxeViolations();
  });

  it('show the configured contact', async () => {
    const meta = document.createElement('meta');
    meta.name = 'atajo-contact';
    meta.content = 'hello@atajo.example';
    document.head.append(meta);
    vi.resetModules();
    visit('/terms-of-use');
    await heading('Terms of use');
    expect(screen.getAllByRole('link', { name: 'hello@atajo.example' })[0]).toHaveAttribute(
      'href',
      'mailto:hello@atajo.example',
    );
    meta.remove();
  });
});
