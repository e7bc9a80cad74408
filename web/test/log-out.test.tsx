import { screen, waitFor } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { heading, HOUR, logIn, menuLinks, visit } from './app';
import { data, error, never, serve } from './server';

const kept = () => localStorage.getItem('endedSessions');
const ended = (token: string) => ({ name: 'endSession', payload: { token, id: null } });
const stored = (token: string, expirationTimestamp = Date.now() + HOUR) =>
  localStorage.setItem('endedSessions', JSON.stringify([{ token, expirationTimestamp }]));

async function logOut(token: string, endSession: Parameters<typeof serve>[0][string]) {
  logIn(token);
  const calls = serve({ showLinks: never, endSession }, 'endSession');
  const { user } = visit('/my-account');
  await user.click(await screen.findByRole('button', { name: 'Log out' }));
  await heading('Shorten, share and track your links');
  expect(localStorage.getItem('userToken')).toBeNull();
  expect(menuLinks()).toContain('LOGIN');
  return calls;
}

describe('logging out', () => {
  it('ends the session on the server', async () => {
    const calls = await logOut('token-1', () => data({ success: true }));
    await waitFor(() => expect(kept()).toBeNull());
    expect(calls).toEqual([ended('token-1')]);
  });

  it.each([
    ['the network is back', 'network error' as const],
    ['auth knows how', error(503, 'UNAVAILABLE')],
  ])('ends it once %s', async (_when, failure) => {
    vi.spyOn(console, 'error').mockReturnValue();
    let isDown = true;
    const calls = await logOut('token-2', () => (isDown ? failure : data({ success: true })));
    await waitFor(() => expect(calls).toHaveLength(1));
    expect(kept()).toContain('token-2');
    isDown = false;
    await waitFor(() => {
      dispatchEvent(new Event('online'));
      expect(calls).toEqual([ended('token-2'), ended('token-2')]);
    });
    await waitFor(() => expect(kept()).toBeNull());
  });

  it.each([data({ success: false, error: 'invalid token' }), error(400, 'INVALID_ARGUMENT')])(
    'is not repeated after a refusal',
    async (reply) => {
      vi.spyOn(console, 'error').mockReturnValue();
      const calls = await logOut('token-3', () => reply);
      await waitFor(() => expect(kept()).toBeNull());
      expect(calls).toHaveLength(1);
      expect(localStorage.getItem('lastSession')).toBeNull();
    },
  );

  it('is finished by the next page if this one was closed', async () => {
    stored('token-4');
    const calls = serve({ endSession: () => data({ success: true }) });
    visit('/login');
    await heading('Log in');
    await waitFor(() => expect(kept()).toBeNull());
    expect(calls).toEqual([ended('token-4')]);
  });

  it.each([
    JSON.stringify([{ token: 'token-5', expirationTimestamp: Date.now() - 1 }]),
    '[null, {"token": 1}]',
    '{}',
    'no JSON',
  ])('does not send %s', async (text) => {
    localStorage.setItem('endedSessions', text);
    const calls = serve({ endSession: () => data({ success: true }) });
    visit('/login');
    await heading('Log in');
    expect(calls).toEqual([]);
    expect(screen.queryByText(/session has ended/)).toBeNull();
  });

  it('keeps at most five sessions that the server has not ended', async () => {
    const sessions = Array.from({ length: 5 }, (_, number) => ({
      token: `earlier-${number}`,
      expirationTimestamp: Date.now() + HOUR,
    }));
    localStorage.setItem('endedSessions', JSON.stringify(sessions));
    await logOut('token-6', never);
    const tokens = (JSON.parse(kept() ?? '[]') as { token: string }[]).map(({ token }) => token);
    expect(tokens).toEqual([...sessions.slice(1).map(({ token }) => token), 'token-6']);
  });
});
