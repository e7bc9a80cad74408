import { screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepLogin, takeLogin, type BegunLogin } from '../src/lib/oidc';
import { currentSession } from '../src/lib/session';
import { expectNoAxeViolations, heading, HOUR, logIn, toasts, visit } from './app';
import { data, error, serve } from './server';

const BUTTON = 'Continue with Camino';
const SECRET = 's'.repeat(43);
const begun: BegunLogin = { secret: SECRET, to: '/my-account', token: null, invitation: null };
const RETURN = '/oidc/callback?code=the-code&state=the-state&iss=https%3A%2F%2Fid.example';
const session = {
  success: true,
  token: 'new-token',
  expirationTimestamp: Date.now() + 4 * HOUR,
  username: 'Ana',
  device: 'new-device',
};

const meta = document.createElement('meta');
beforeEach(() => {
  meta.name = 'atajo-oidc-name';
  meta.content = 'Camino';
  document.head.append(meta);
  sessionStorage.clear();
});
afterEach(() => meta.remove());

describe('the offer of a provider', () => {
  it.each(['/login', '/register'])('is on %s', async (path) => {
    const calls = serve({ beginOidc: () => data({ success: true, url: 'javascript:alert(1)' }) });
    vi.spyOn(console, 'error').mockReturnValue();
    const { user } = visit(path);
    await user.click(await screen.findByRole('button', { name: BUTTON }));
    expect(await screen.findByText('Something went wrong. Please try again.')).toBeVisible();
    expect(calls).toHaveLength(1);
    expect(calls[0]?.payload['secret']).toMatch(/^[\w-]{43}$/);
    expect(calls[0]?.payload['token']).toBeNull();
    expect(takeLogin()).toBeNull();
    await expectNoAxeViolations();
  });

  it.each(['/login', '/register'])('is not on %s without one', async (path) => {
    meta.content = '';
    visit(path);
    await screen.findByRole('heading', { level: 1 });
    expect(screen.queryByRole('button', { name: /Continue with/ })).toBeNull();
  });

  it('says that the provider does not answer', async () => {
    serve({ beginOidc: () => data({ success: false, error: 'unavailable' }) });
    const { user } = visit('/login');
    await user.click(await screen.findByRole('button', { name: BUTTON }));
    expect(await screen.findByText(/^Camino does not answer at the moment\./)).toBeVisible();
    expect(screen.getByRole('button', { name: 'LOGIN' })).toBeEnabled();
  });
});

describe('the return from the provider', () => {
  it('logs in, once, and leaves no code behind', async () => {
    keepLogin({ ...begun, invitation: 'invited' });
    const calls = serve(
      {
        finishOidc: () => data(session),
        showLinks: () => data({ success: true, links: [], total: 0, cursor: null }),
      },
      'finishOidc',
    );
    visit(RETURN);
    await waitFor(() => expect(currentSession()?.token).toBe('new-token'));
    await waitFor(() => expect(location.pathname).toBe('/my-account'));
    expect(calls).toEqual([
      {
        name: 'finishOidc',
        payload: {
          code: 'the-code',
          state: 'the-state',
          iss: 'https://id.example',
          secret: SECRET,
          invitation: 'invited',
          device: null,
        },
      },
    ]);
    expect(location.search).toBe('');
    expect(takeLogin()).toBeNull();
  });

  it('asks for the password of an account with the same address', async () => {
    keepLogin({ ...begun, to: '/' });
    let password = '';
    const calls = serve({
      finishOidc: () => data({ success: true, link: 'the-link', email: 'ana@example.com' }),
      linkOidc: (payload) => {
        password = String(payload['password']);
        return data(password === 'right' ? session : { success: false, error: 'incorrect' });
      },
    });
    const { user } = visit(RETURN);
    await heading('Log in with Camino');
    expect(await screen.findByText(/the email address ana@example.com/)).toBeVisible();
    expect(location.search).toBe('');
    await expectNoAxeViolations();
    const submit = screen.getByRole('button', { name: 'Connect and log in' });
    await user.click(submit);
    expect(await screen.findByText('Please enter your password')).toBeVisible();
    await user.type(screen.getByLabelText('Password'), 'wrong');
    await user.click(submit);
    expect(await screen.findByText('Incorrect password')).toBeVisible();
    await user.clear(screen.getByLabelText('Password'));
    await user.type(screen.getByLabelText('Password'), 'right');
    await user.click(submit);
    await waitFor(() => expect(currentSession()?.token).toBe('new-token'));
    expect(calls.at(-1)).toEqual({
      name: 'linkOidc',
      payload: { link: 'the-link', secret: SECRET, password: 'right', device: null },
    });
  });

  it.each([
    ['refused', /^This login cannot be completed/],
    ['unavailable', /^Camino does not answer/],
    ['unverified', /^Camino does not know a verified email address/],
    ['exist', /^There is already an account with your email address/],
    ['suspended', /^This account is suspended/],
    ['closed', /^Registration is closed\.$/],
    ['invitation', /^Registration is by invitation\.$/],
    ['off', /is turned off\.$/],
  ])('says in one sentence what hinders it: %s', async (outcome, text) => {
    keepLogin(begun);
    serve({ finishOidc: () => data({ success: false, error: outcome }) });
    visit(RETURN);
    expect(await screen.findByText(text)).toBeVisible();
    expect(screen.getByRole('link', { name: 'Go to the login' })).toHaveAttribute('href', '/login');
    expect(currentSession()).toBeNull();
    await expectNoAxeViolations();
  });

  it('calls nothing in a browser that has begun nothing', async () => {
    const calls = serve({});
    visit(RETURN);
    expect(await screen.findByText(/^This login cannot be completed/)).toBeVisible();
    expect(calls).toEqual([]);
  });

  it('shows nothing that the provider says of an error', async () => {
    keepLogin(begun);
    const calls = serve({});
    visit('/oidc/callback?error=access_denied&error_description=Call+555-0100&state=the-state');
    expect(await screen.findByText(/^Camino did not log you in/)).toBeVisible();
    expect(screen.queryByText(/555/)).toBeNull();
    expect(calls).toEqual([]);
  });

  it('confirms the session of an account without a password', async () => {
    logIn();
    keepLogin({ ...begun, to: '/my-account/settings', token: 'a-token' });
    const calls = serve(
      {
        finishOidc: () => data({ success: true }),
        listConnections: () => data({ success: true, has_password: false, connections: [] }),
      },
      'finishOidc',
    );
    visit(RETURN);
    await heading('Settings');
    expect(calls[0]?.payload).toMatchObject({ token: 'a-token', code: 'the-code' });
    await waitFor(() => expect(toasts()).toContain('Your login was confirmed.'));
  });
});

const CONNECTION = {
  id: 'connection',
  issuer: 'https://id.example',
  email: 'ana@work.example',
  created_at: '2026-11-26T09:20:00.000Z',
  last_used_at: null,
};

describe('the settings', () => {
  beforeEach(() => logIn());

  it('remove a connection with the password, and say that logging out stays here', async () => {
    const calls = serve(
      {
        listConnections: () =>
          data({ success: true, has_password: true, connections: [CONNECTION] }),
        removeConnection: () => data({ success: true }),
      },
      'removeConnection',
    );
    const { user } = visit('/my-account/settings');
    const section = await screen.findByRole('region', { name: 'Login with Camino' });
    expect(section).toHaveTextContent('you stay logged in at Camino');
    await user.click(
      await within(section).findByRole('button', { name: 'Remove ana@work.example' }),
    );
    const dialog = screen.getByRole('dialog');
    await user.type(within(dialog).getByLabelText('Password'), 'Camino-42');
    await user.click(within(dialog).getByRole('button', { name: 'Remove' }));
    expect(await within(section).findByText('The connection was removed.')).toBeVisible();
    expect(calls).toEqual([
      {
        name: 'removeConnection',
        payload: { token: 'a-token', id: 'connection', password: 'Camino-42' },
      },
    ]);
  });

  it('have no field for a password that an account does not have', async () => {
    let isConfirmed = false;
    const calls = serve(
      {
        listConnections: () =>
          data({ success: true, has_password: false, connections: [CONNECTION] }),
        removeConnection: () =>
          data({ success: false, error: isConfirmed ? 'last login' : 'confirm' }),
        beginOidc: () => error(503, 'UNAVAILABLE'),
      },
      'removeConnection',
    );
    vi.spyOn(console, 'error').mockReturnValue();
    const { user } = visit('/my-account/settings');
    await user.click(await screen.findByRole('button', { name: 'Remove ana@work.example' }));
    const dialog = screen.getByRole('dialog');
    expect(within(dialog).queryByLabelText('Password')).toBeNull();
    await user.click(within(dialog).getByRole('button', { name: 'Remove' }));
    expect(await within(dialog).findByText(/^Your login was too long ago/)).toBeVisible();
    isConfirmed = true;
    await user.click(within(dialog).getByRole('button', { name: 'Remove' }));
    expect(await within(dialog).findByText(/^Nobody could log in/)).toBeVisible();
    expect(calls[0]?.payload).toEqual({ token: 'a-token', id: 'connection', password: null });
    await expectNoAxeViolations();
  });

  it('ask nothing about connections without a provider', async () => {
    meta.content = '';
    const calls = serve({ listConnections: () => error(500, 'INTERNAL') }, 'listConnections');
    visit('/my-account/settings');
    await heading('Settings');
    expect(screen.queryByRole('region', { name: /Login with/ })).toBeNull();
    expect(calls).toEqual([]);
  });
});
