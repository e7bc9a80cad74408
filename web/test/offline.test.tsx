/** Links that are asked for without a network. */
import { act, screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { heading, logIn, visit } from './app';
import { data, error, serve } from './server';

const LONG = 'https://example.org/a/long/way';
const field = () => screen.getByRole<HTMLInputElement>('textbox', { name: 'Link to shorten' });
const plates = () => screen.findByRole('list', { name: 'New short links' });
const waiting = () => screen.findByRole('img', { name: 'Waiting for a connection' });
const stored = () => localStorage.getItem('pendingLink');

let isOnline = true;

function setOnline(value: boolean): void {
  isOnline = value;
  act(() => void window.dispatchEvent(new Event(value ? 'online' : 'offline')));
}

beforeEach(() => {
  isOnline = true;
  vi.spyOn(navigator, 'onLine', 'get').mockImplementation(() => isOnline);
  vi.spyOn(console, 'error').mockReturnValue();
});

/** Serves a backend that is there while the browser is online. */
function serveOnline() {
  return serve(
    {
      createShortLink: ({ code }) =>
        isOnline ? data({ success: true, code, short_link: code }) : 'network error',
    },
    'createShortLink',
  );
}

describe('a link that is asked for offline', () => {
  it('is created with one code once the network is back, although the page was closed', async () => {
    const calls = serveOnline();
    isOnline = false;
    const { user, unmount } = visit('/');
    screen.getByText('You are offline. This page may be out of date.');
    await user.type(field(), `${LONG}{Enter}`);
    await waiting();
    await waitFor(() => expect(calls).toHaveLength(1));
    unmount();
    visit('/');
    await waiting();
    setOnline(true);
    await plates();
    expect(screen.queryByText(/You are offline/)).toBeNull();
    expect(new Set(calls.map(({ payload }) => payload['code'])).size).toBe(1);
    expect(stored()).toBeNull();
  });

  it('is forgotten when it is canceled or replaced', async () => {
    serveOnline();
    isOnline = false;
    const { user } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    await waiting();
    await waitFor(() => expect(stored()).toContain(LONG));
    await user.type(field(), `${LONG}/2{Enter}`);
    await waitFor(() => expect(stored()).toContain(`${LONG}/2`));
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(stored()).toBeNull();
    expect(field()).toHaveValue(`${LONG}/2`);
  });

  it('is not created for another account, but put into the field', async () => {
    const calls = serveOnline();
    isOnline = false;
    const { user, unmount } = visit('/');
    await user.type(field(), `${LONG}{Enter}`);
    await waitFor(() => expect(stored()).toContain(LONG));
    unmount();
    logIn();
    isOnline = true;
    calls.length = 0;
    visit('/');
    expect(field()).toHaveValue(LONG);
    expect(stored()).toBeNull();
    expect(calls).toEqual([]);
  });

  it('with a custom ending that is taken meanwhile says so', async () => {
    serve({ createShortLink: () => error(409, 'ABORTED') });
    const kept = { url: LONG, code: 'fiesta', isCustom: true, owner: 'browser' };
    localStorage.setItem('pendingLink', JSON.stringify(kept));
    visit('/');
    await screen.findByText('This ending is taken.');
    expect(field()).toHaveValue(LONG);
    expect(stored()).toBeNull();
  });

  it('is forgotten when its user logs out', async () => {
    logIn();
    serve({ showLinks: () => data({ success: true, links: [], total: 0, next: null }) });
    const { user } = visit('/my-account');
    const logOut = await screen.findByRole('button', { name: 'Log out' });
    await screen.findByRole('textbox', { name: 'Link to shorten' });
    localStorage.setItem('pendingLink', JSON.stringify({ url: LONG, code: 'abcd', owner: 'x' }));
    await user.click(logOut);
    await heading('Shorten, share and track your links');
    expect(stored()).toBeNull();
    expect(field()).toHaveValue('');
  });

  it.each(['{', 'null', '1', '{"url":1}'])('does not disturb when %s is stored', (kept) => {
    localStorage.setItem('pendingLink', kept);
    visit('/');
    expect(field()).toHaveValue('');
    expect(screen.queryByText('Waiting for a connection')).toBeNull();
  });
});
