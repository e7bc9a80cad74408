import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { compareSync } from 'bcryptjs';
import { describe, expect, it, vi } from 'vitest';
import { expectNoAxeViolations, heading, HOUR, logIn, menuLinks, toasts, visit } from './app';
import { answered, data, error, never, serve } from './server';

const email = () => screen.getByRole<HTMLInputElement>('textbox', { name: 'Email' });
const password = () => screen.getByLabelText<HTMLInputElement>('Password');
const username = () => screen.getByRole('textbox', { name: 'Username' });
const profile = () => data({ success: true, data: [] });

async function openLogin(state: object | null = null) {
  const { user } = visit('/login', state);
  await heading('Log in');
  return user;
}

async function fillLogin() {
  const user = await openLogin();
  await user.type(email(), 'marta@example.org');
  await user.type(password(), 'Senderos-1');
  return user;
}

const toastList = () => screen.getByRole('region', { name: /Notifications/ });
const later = () => Date.now() + 4 * HOUR;

/** Starts a login and returns the function that answers it. */
async function pendingLogin() {
  let answer: (reply: object) => void = () => undefined;
  const calls = serve({ verifyUser: () => new Promise((resolve) => (answer = resolve)) });
  const user = await fillLogin();
  await user.click(send('LOGIN'));
  await waitFor(() => expect(calls).toHaveLength(1));
  return { user, answer: (reply: object) => answer(reply) };
}

const send = (name: string) => screen.getByRole('button', { name });

describe('the login page', () => {
  it('shows and hides the password', async () => {
    const user = await openLogin();
    await expectNoAxeViolations();
    expect(password().type).toBe('password');
    await user.click(send('Show password'));
    expect(password().type).toBe('text');
    await user.click(send('Hide password'));
    expect(password().type).toBe('password');
    expect(password()).toHaveAttribute('autocomplete', 'current-password');
    expect(email()).toHaveAttribute('autocomplete', 'username');
  });

  it('does nothing while a field is empty', async () => {
    const calls = serve({});
    const user = await openLogin();
    await user.click(send('LOGIN'));
    await user.type(email(), 'marta@example.org');
    await user.click(send('LOGIN'));
    expect(calls).toEqual([]);
    for (const alert of screen.getAllByRole('alert')) expect(alert).toBeEmptyDOMElement();
  });

  it('stores the token and goes to the home page', async () => {
    const expirationTimestamp = Date.now() + 4 * HOUR;
    const calls = serve({
      verifyUser: () =>
        data({ success: true, token: 'fresh', expirationTimestamp, username: 'Marta', device: '' }),
    });
    const user = await fillLogin();
    await user.click(send('LOGIN'));
    await heading('Shorten, share and track your links');
    expect(calls).toEqual([
      {
        name: 'verifyUser',
        payload: { email: 'marta@example.org', password: 'Senderos-1', device: null },
      },
    ]);
    expect(JSON.parse(localStorage.getItem('userToken') ?? '')).toEqual({
      token: 'fresh',
      expirationTimestamp,
    });
    expect(localStorage.getItem('username')).toBe('Marta');
    expect(location.pathname).toBe('/');
    expect(menuLinks()).toContain('MY ACCOUNT');
  });

  it.each([
    ['incorrect', 'Incorrect password'],
    ['no exist', 'No accound found with this email'],
  ])('reports %s', async (name, message) => {
    serve({ verifyUser: () => data({ success: false, error: name }) });
    const user = await fillLogin();
    await user.click(send('LOGIN'));
    await waitFor(() => expect(toasts()).toEqual([message]));
    expect(send('LOGIN')).not.toHaveAttribute('aria-busy');
    await expectNoAxeViolations();
  });

  it.each([
    ['a network error', 'network error' as const, 'Something went wrong. Please try again.'],
    [
      'too many attempts',
      error(429, 'RESOURCE_EXHAUSTED', { 'retry-after': '540' }),
      'Too many attempts. Please try again in 9 minutes.',
    ],
    [
      'attempts in quick succession',
      error(429, 'RESOURCE_EXHAUSTED', { 'retry-after': '42' }),
      'Too many attempts. Please try again in 42 seconds.',
    ],
  ])('reports %s in the form, without a toast', async (_name, answer, message) => {
    const log = vi.spyOn(console, 'error').mockReturnValue();
    serve({ verifyUser: () => answer });
    const user = await fillLogin();
    await user.click(send('LOGIN'));
    await screen.findByText(message);
    expect(screen.getAllByRole('alert').filter((alert) => alert.textContent)).toHaveLength(1);
    expect(JSON.stringify(log.mock.calls)).not.toContain('Senderos-1');
  });

  it.each([
    ['incorrect', 'Incorrect password', password],
    ['no exist', 'No accound found with this email', email],
  ])('keeps %s readable at its field, and announces it again', async (name, message, where) => {
    serve({ verifyUser: () => data({ success: false, error: name }) });
    const user = await fillLogin();
    await user.click(send('LOGIN'));
    await waitFor(() => expect(where()).toHaveAccessibleDescription(message));
    expect(where()).toBeInvalid();
    expect(send('LOGIN')).toHaveFocus();
    await waitFor(() => expect(toasts()).toContain(message));
    await user.click(within(toastList()).getByRole('button', { name: 'Close' }));
    // A toast closes when its animation ends, and jsdom has no animations.
    await waitFor(() => {
      for (const toast of document.querySelectorAll('.Toastify__toast'))
        fireEvent.animationEnd(toast);
      expect(toasts()).toEqual([]);
    });
    expect(where()).toHaveAccessibleDescription(message);
    await user.click(send('LOGIN'));
    await waitFor(() => expect(toasts()).toEqual([message]));
    await waitFor(() => expect(where()).toHaveAccessibleDescription(message));
  });

  it('logs in a user who went to another page, and keeps that page', async () => {
    const { answer, user } = await pendingLogin();
    await user.click(screen.getByRole('link', { name: 'SHORTENER' }));
    await heading('Shorten a link');
    answer(
      data({
        success: true,
        token: 't',
        expirationTimestamp: later(),
        username: 'Marta',
        device: '',
      }),
    );
    await waitFor(() => expect(menuLinks()).toContain('MY ACCOUNT'));
    expect(location.pathname).toBe('/short-link');
    await heading('Shorten a link');
  });

  it('reports no failure to a user who went to another page', async () => {
    const { answer, user } = await pendingLogin();
    await user.click(screen.getByRole('link', { name: 'SHORTENER' }));
    await heading('Shorten a link');
    answer(data({ success: false, error: 'incorrect' }));
    await answered();
    expect(toasts()).not.toContain('Incorrect password');
  });

  it('does not replace a session that began after the user left', async () => {
    const { answer, user } = await pendingLogin();
    await user.click(screen.getByRole('link', { name: 'SHORTENER' }));
    logIn('newer');
    answer(
      data({
        success: true,
        token: 't',
        expirationTimestamp: later(),
        username: 'Marta',
        device: '',
      }),
    );
    await answered();
    expect(localStorage.getItem('userToken')).toContain('"newer"');
  });

  it('logs in a user who went to the registration, and keeps that page', async () => {
    const { answer, user } = await pendingLogin();
    await user.click(screen.getByRole('link', { name: 'REGISTER' }));
    await heading('Register');
    await user.type(username(), 'Mar');
    answer(
      data({
        success: true,
        token: 't',
        expirationTimestamp: later(),
        username: 'Marta',
        device: '',
      }),
    );
    await waitFor(() => expect(menuLinks()).toContain('MY ACCOUNT'));
    expect(location.pathname).toBe('/register');
    expect(username()).toHaveValue('Mar');
  });

  it('logs in a user who came back to the login page, and keeps that page', async () => {
    const { answer, user } = await pendingLogin();
    await user.click(screen.getByRole('link', { name: 'SHORTENER' }));
    await heading('Shorten a link');
    await user.click(screen.getByRole('link', { name: 'LOGIN' }));
    await heading('Log in');
    answer(
      data({
        success: true,
        token: 't',
        expirationTimestamp: later(),
        username: 'Marta',
        device: '',
      }),
    );
    await waitFor(() => expect(menuLinks()).toContain('MY ACCOUNT'));
    expect(location.pathname).toBe('/login');
  });

  it.each([5, -5])('logs in on a clock that is %s hours ahead', async (hours) => {
    const server = Math.floor(Date.now() / 1000) * 1000;
    vi.spyOn(Date, 'now').mockReturnValue(server + hours * HOUR);
    serve({
      verifyUser: () => ({
        ...data({
          success: true,
          token: 'fresh',
          expirationTimestamp: server + 4 * HOUR,
          username: 'Marta',
          device: '',
        }),
        headers: { date: new Date(server).toUTCString() },
      }),
    });
    const user = await fillLogin();
    await user.click(send('LOGIN'));
    await heading('Shorten, share and track your links');
    expect(menuLinks()).toContain('MY ACCOUNT');
    const { expirationTimestamp } = JSON.parse(localStorage.getItem('userToken') ?? '') as {
      expirationTimestamp: number;
    };
    expect(expirationTimestamp - Date.now()).toBe(4 * HOUR - 1000);
  });

  it('stores the device token and sends it with the next login', async () => {
    const login = {
      success: true,
      token: 't',
      expirationTimestamp: later(),
      username: 'Marta',
      device: '',
    };
    const marks = ['mark-1', 'mark-2', ''];
    const calls = serve({
      verifyUser: () => data({ ...login, device: marks.shift() }),
      showProfile: profile,
    });
    for (const kept of ['mark-1', 'mark-2', 'mark-2']) {
      const user = await fillLogin();
      await user.click(send('LOGIN'));
      await heading('Shorten, share and track your links');
      expect(localStorage.getItem('device')).toBe(kept);
      await user.click(screen.getByRole('link', { name: 'MY ACCOUNT' }));
      await user.click(await screen.findByRole('button', { name: 'Log out' }));
      await heading('Shorten, share and track your links');
      cleanup();
    }
    const sent = calls.filter(({ name }) => name === 'verifyUser').map(({ payload }) => payload);
    expect(sent.map((payload) => payload['device'])).toEqual([null, 'mark-1', 'mark-2']);
  });

  it('requests a device token instead of one that is too long, and stores no empty one', async () => {
    localStorage.setItem('device', 'm'.repeat(1_001));
    const login = {
      success: true,
      token: 't',
      expirationTimestamp: later(),
      username: 'Marta',
      device: '',
    };
    const calls = serve({ verifyUser: () => data({ ...login, device: '' }) });
    const user = await fillLogin();
    await user.click(send('LOGIN'));
    await heading('Shorten, share and track your links');
    expect(calls[0]?.payload['device']).toBeNull();
    expect(localStorage.getItem('device')).not.toBe('');
  });

  it.each([
    [
      'full',
      () =>
        vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
          throw new DOMException('full', 'QuotaExceededError');
        }),
    ],
    [
      'forbidden',
      () =>
        vi.spyOn(window, 'localStorage', 'get').mockImplementation(() => {
          throw new DOMException('no', 'SecurityError');
        }),
    ],
  ])('keeps the session for the visit if storage is %s', async (_name, refuse) => {
    serve({
      verifyUser: () =>
        data({
          success: true,
          token: 't',
          expirationTimestamp: later(),
          username: 'Marta',
          device: '',
        }),
      showProfile: profile,
    });
    const user = await fillLogin();
    const refusing = refuse();
    await user.click(send('LOGIN'));
    await heading('Shorten, share and track your links');
    await user.click(screen.getByRole('link', { name: 'MY ACCOUNT' }));
    await heading('Your links');
    screen.getByText('Marta');
    await user.click(screen.getByRole('button', { name: 'Log out' }));
    await waitFor(() => expect(menuLinks()).toContain('LOGIN'));
    refusing.mockRestore();
    expect(localStorage.getItem('userToken')).toBeNull();
  });

  it('cannot be submitted twice', async () => {
    const calls = serve({ verifyUser: never });
    const user = await fillLogin();
    await user.click(send('LOGIN'));
    const button = screen.getByRole('button', { name: /Please wait/ });
    expect(button).toHaveAttribute('aria-busy', 'true');
    await user.click(button);
    await user.type(password(), '{Enter}');
    await waitFor(() => expect(calls).toHaveLength(1));
  });

  it('redirects a logged-in visitor to the account page', async () => {
    serve({ showProfile: profile });
    logIn();
    visit('/login');
    await heading('Your links');
    expect(location.pathname).toBe('/my-account');
  });

  it('links to the registration', async () => {
    const user = await openLogin();
    await user.click(screen.getByRole('link', { name: 'Register' }));
    await heading('Register');
  });
});

async function openRegister() {
  const { user } = visit('/register');
  await heading('Register');
  return user;
}

async function fillRegister() {
  const user = await openRegister();
  await user.type(email(), ' marta@example.org ');
  await user.type(password(), 'Senderos-1');
  await user.type(username(), 'Marta');
  return user;
}

describe('the registration page', () => {
  it('requires an email, a password and a username', async () => {
    const calls = serve({});
    const user = await openRegister();
    await expectNoAxeViolations();
    await user.click(send('REGISTER'));
    expect(email()).toHaveAccessibleDescription('Please enter an email address');
    expect(username()).toHaveAccessibleDescription('Please enter a username');
    expect(password()).toBeInvalid();
    expect(email()).toHaveFocus();
    expect(calls).toEqual([]);
    await expectNoAxeViolations();
  });

  it('requires an @ and at most 30 characters', async () => {
    const user = await openRegister();
    await user.type(email(), 'marta');
    await user.type(username(), '\u{1F97E}'.repeat(31));
    await user.click(send('REGISTER'));
    expect(email()).toHaveAccessibleDescription('Please enter a valid email');
    expect(username()).toHaveAccessibleDescription('Username need to have less than 30 characters');
  });

  it('updates the password rules, in Spanish, while the user types', async () => {
    const user = await openRegister();
    const list = within(screen.getByRole('list'));
    const met = () =>
      list
        .getAllByRole('listitem')
        .filter((item) => item.textContent.endsWith('(met)') && item.lang === 'es')
        .map((item) => item.textContent.replace(' (met)', ''));
    expect(met()).toEqual([]);
    await user.type(password(), 'sendas');
    expect(met()).toEqual(['Como máximo 72 bytes']);
    await user.type(password(), 'Ñ1-');
    expect(met()).toEqual([
      'Al menos 8 caracteres',
      'Al menos una letra mayúscula',
      'Al menos un dígito',
      'Al menos un símbolo',
      'Como máximo 72 bytes',
    ]);
    await user.clear(password());
    await user.type(password(), `Ñ1-${'ñ'.repeat(35)}`);
    expect(met()).not.toContain('Como máximo 72 bytes');
  });

  it('sends a hash with its salt, never the password, and goes to the login', async () => {
    const calls = serve({ registerUser: () => data({ success: true }) });
    const user = await fillRegister();
    await user.click(send('REGISTER'));
    await heading('Log in');
    expect(email().value).toBe('marta@example.org');
    expect(localStorage.getItem('username')).toBe('Marta');
    const sent = calls[0]?.payload as Record<string, string>;
    expect(Object.keys(sent).sort()).toEqual(['email', 'password', 'salt', 'username']);
    expect(sent['password']).toMatch(/^\$2[aby]\$10\$/);
    expect(sent['password']?.startsWith(sent['salt'] ?? 'no salt')).toBe(true);
    expect(compareSync('Senderos-1', sent['password'] ?? '')).toBe(true);
    expect(JSON.stringify(calls)).not.toContain('Senderos-1');
  });

  it('says when the email is already registered', async () => {
    serve({ registerUser: () => data({ success: false, error: 'exist' }) });
    const user = await fillRegister();
    await user.click(send('REGISTER'));
    await waitFor(() => expect(toasts()).toEqual(['This email is already registered']));
    expect(email()).toHaveAccessibleDescription('This email is already registered');
    expect(location.pathname).toBe('/register');
  });

  it('keeps the page of a user who went elsewhere', async () => {
    let answer: (reply: object) => void = () => undefined;
    const calls = serve({ registerUser: () => new Promise((resolve) => (answer = resolve)) });
    const user = await fillRegister();
    await user.click(send('REGISTER'));
    await waitFor(() => expect(calls).toHaveLength(1));
    await user.click(screen.getByRole('link', { name: 'SHORTENER' }));
    await heading('Shorten a link');
    answer(data({ success: true }));
    await waitFor(() => expect(localStorage.getItem('username')).toBe('Marta'));
    await heading('Shorten a link');
    expect(location.pathname).toBe('/short-link');
  });

  it('describes its fields to password managers', async () => {
    await openRegister();
    expect(email()).toHaveAttribute('autocomplete', 'username');
    expect(password()).toHaveAttribute('autocomplete', 'new-password');
    expect(username()).toHaveAttribute('autocomplete', 'nickname');
  });

  it('announces a repeated problem again', async () => {
    const user = await openRegister();
    await user.click(send('REGISTER'));
    const first = screen.getByText('Please enter a username');
    await user.click(send('REGISTER'));
    expect(first).not.toBeInTheDocument();
    screen.getByText('Please enter a username');
  });

  it('retries with the same four fields', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    const calls = serve({ registerUser: () => error(503, 'UNAVAILABLE') });
    const user = await fillRegister();
    await user.click(send('REGISTER'));
    await screen.findByText('Something went wrong. Please try again.');
    await user.click(send('REGISTER'));
    await waitFor(() => expect(calls).toHaveLength(2));
    expect(calls[0]).toEqual(calls[1]);
  });

  it('redirects a logged-in visitor to the account page', async () => {
    serve({ showProfile: profile });
    logIn();
    visit('/register');
    await heading('Your links');
  });
});
