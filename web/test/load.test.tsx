import { act, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { Suspense } from 'react';
import { MemoryRouter } from 'react-router-dom';
import { describe, expect, it, vi } from 'vitest';
import { lazyPage } from '../src/app/lazyPage';
import { LoadBoundary } from '../src/app/LoadBoundary';
import { expectNoAxeViolations, heading, visit } from './app';
import { data, serve } from './server';

vi.mock('../src/pages/TermsPage', () => {
  throw new Error('the connection is down');
});
vi.mock('../src/components/ToastHost', () => {
  throw new Error('the connection is down');
});

it('a page whose code does not load says so, and the rest keeps working', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  const { user } = visit('/');
  await user.click(screen.getByRole('link', { name: 'TERMS OF USE' }));
  await heading('This page did not load');
  expect(screen.getByRole('button', { name: 'Reload' })).toBeInTheDocument();
  await expectNoAxeViolations();
  await user.click(screen.getByRole('link', { name: 'LOGIN' }));
  await heading('Log in');
});

it('a toast whose code does not load is announced', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  serve({ verifyUser: () => data({ success: false, error: 'incorrect' }) });
  const { user } = visit('/login');
  await heading('Log in');
  await user.type(screen.getByRole('textbox', { name: 'Email' }), 'marta@example.org');
  await user.type(screen.getByLabelText('Password'), 'Senderos-1{Enter}');
  await waitFor(() => expect(screen.getByRole('status')).toHaveTextContent('Incorrect password'));
});

describe('a page that did not load', () => {
  /** Opens a page that loads only while the connection is up. */
  async function open() {
    vi.spyOn(console, 'error').mockReturnValue();
    const line = { up: false };
    const load = vi.fn(() =>
      line.up
        ? Promise.resolve({ default: () => <h1>The page</h1> })
        : Promise.reject(new Error('the connection is down')),
    );
    // Automatic retries happen when a test triggers them.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const LatePage = lazyPage(load);
    render(
      <MemoryRouter>
        <LoadBoundary>
          <Suspense>
            <LatePage />
          </Suspense>
        </LoadBoundary>
      </MemoryRouter>,
    );
    await heading('This page did not load');
    return { line, load };
  }

  it('loads on a click when the connection is back', async () => {
    const user = userEvent.setup();
    const { line, load } = await open();
    const again = screen.getByRole('button', { name: 'Reload' });
    const before = load.mock.calls.length;
    await user.click(again);
    await waitFor(() => expect(load.mock.calls.length).toBeGreaterThan(before));
    await waitFor(() => expect(again).not.toHaveAttribute('aria-busy'));
    expect(again).toHaveFocus();
    line.up = true;
    await user.click(again);
    await heading('The page');
  });

  it('loads automatically when the browser is back online', async () => {
    const { line } = await open();
    line.up = true;
    act(() => void window.dispatchEvent(new Event('online')));
    await heading('The page');
  });

  it('loads automatically, with growing pauses and only while the page is visible', async () => {
    const { line, load } = await open();
    const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(false);
    load.mockClear();
    const wait = (seconds: number) => act(() => vi.advanceTimersByTimeAsync(seconds * 1_000));
    const tries: number[] = [];
    for (const seconds of [5, 5, 5, 20, 40, 60, 55, 5]) {
      await wait(seconds);
      tries.push(load.mock.calls.length);
    }
    expect(tries).toEqual([1, 1, 2, 3, 4, 5, 5, 6]);
    hidden.mockReturnValue(true);
    await wait(3_600);
    expect(load).toHaveBeenCalledTimes(6);
    hidden.mockReturnValue(false);
    line.up = true;
    await wait(60);
    await heading('The page');
  });
});
