import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { expectNoAxeViolations, heading, logIn, visit } from './app';
import { data, error, never, serve } from './server';

const session = (id: string, fields = {}) => ({
  id,
  created_at: '2026-11-26T09:20:00.000Z',
  last_seen_at: '2026-11-26T10:00:00.000Z',
  browser: 'Firefox',
  system: 'Linux',
  current: false,
  ...fields,
});
const MINE = session('1', { current: true });
const PHONE = session('2', { browser: 'Safari', system: 'iOS' });
const UNKNOWN = session('3', { browser: '', system: '' });

async function open(handlers: Parameters<typeof serve>[0]) {
  logIn('my-token');
  const calls = serve({ showLinks: never, ...handlers });
  const { user } = visit('/my-account/settings');
  await heading('Settings');
  const section = within(await screen.findByRole('region', { name: 'Sessions' }));
  return { user, calls, section };
}

describe('the sessions of an account', () => {
  it('are listed, and only others can be logged out', async () => {
    const { section } = await open({
      listSessions: () => data({ success: true, sessions: [MINE, PHONE, UNKNOWN] }),
    });
    const [mine, phone, unknown] = within(
      await section.findByRole('list', { name: 'Your sessions' }),
    ).getAllByRole('listitem');
    expect(mine).toHaveTextContent(/^Firefox on LinuxLogged in 26 Nov 2026, .* This session$/);
    expect(phone).toHaveTextContent(/^Safari on iOSLogged in .* Last used around 26 Nov 2026/);
    expect(unknown).toHaveTextContent(/^Unknown browserLogged in/);
    expect(section.getAllByRole('button', { name: /^Log out (Safari|Unknown)/ })).toHaveLength(2);
    expect(section.queryByRole('button', { name: /^Log out Firefox/ })).toBeNull();
    section.getByText(/No IP address is stored/);
    await expectNoAxeViolations();
  });

  it('are logged out one by one, and together', async () => {
    const { user, calls, section } = await open({
      listSessions: () => data({ success: true, sessions: [MINE, PHONE, UNKNOWN] }),
      endSession: () => data({ success: true }),
      endOtherSessions: () => data({ success: true }),
    });
    await user.click(await section.findByRole('button', { name: /^Log out Safari on iOS/ }));
    await section.findByText('The session was logged out.');
    expect(section.getAllByRole('listitem')).toHaveLength(2);
    await user.click(section.getByRole('button', { name: 'Log out all other sessions' }));
    await section.findByText('All other sessions were logged out.');
    expect(section.getAllByRole('listitem')).toHaveLength(1);
    expect(section.queryByRole('button', { name: 'Log out all other sessions' })).toBeNull();
    expect(calls.slice(-2)).toEqual([
      { name: 'endSession', payload: { token: 'my-token', id: '2' } },
      { name: 'endOtherSessions', payload: { token: 'my-token' } },
    ]);
  });

  it('stay listed if a call fails', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    const { user, section } = await open({
      listSessions: () => data({ success: true, sessions: [MINE, PHONE] }),
      endSession: () => error(503, 'UNAVAILABLE'),
    });
    await user.click(await section.findByRole('button', { name: /^Log out Safari/ }));
    await section.findByText('Something went wrong. Please try again.');
    expect(section.getAllByRole('listitem')).toHaveLength(2);
  });

  it('can be loaded again after a failure', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    let fails = true;
    const { user, section } = await open({
      listSessions: () => (fails ? 'network error' : data({ success: true, sessions: [MINE] })),
    });
    await section.findByText('Your sessions could not be loaded.');
    fails = false;
    await user.click(section.getByRole('button', { name: 'Try again' }));
    await waitFor(() => expect(section.getAllByRole('listitem')).toHaveLength(1));
  });

  it('lead to the login page when this one has ended', async () => {
    localStorage.setItem('lastSession', 'my-token');
    const { user, section } = await open({
      listSessions: () => data({ success: true, sessions: [MINE, PHONE] }),
      endSession: () => data({ success: false, error: 'invalid token' }),
    });
    await user.click(await section.findByRole('button', { name: /^Log out Safari/ }));
    await heading('Log in');
    screen.getByText('Your session has ended. Please log in again.');
  });
});
