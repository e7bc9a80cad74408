/** Renders the whole app at a URL, as a visitor sees it. */
import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import axe from 'axe-core';
import { expect, vi } from 'vitest';
import { App } from '../src/app/App';

export const HOUR = 3_600_000;

export function visit(path: string, state: object | null = null) {
  history.replaceState(
    state && { usr: state, key: 'test', idx: 0 },
    '',
    new URL(location.origin + path),
  );
  const user = userEvent.setup();
  return { user, ...render(<App />) };
}

export function logIn(token = 'a-token', lifetime = 4 * HOUR): void {
  localStorage.setItem(
    'userToken',
    JSON.stringify({ token, expirationTimestamp: Date.now() + lifetime }),
  );
}

/** Gives the window the focus after cached data has become stale. */
export function refocus(): void {
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
  act(() => void window.dispatchEvent(new Event('focus')));
}

/** Contrast needs layout, which jsdom does not have. tokens.test.ts measures it instead. */
export async function expectNoAxeViolations(): Promise<void> {
  const { violations } = await axe.run(document, {
    resultTypes: ['violations'],
    rules: {
      'color-contrast': { enabled: false },
      'html-has-lang': { enabled: false },
      'meta-viewport': { enabled: false },
    },
  });
  const found = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`,
  );
  expect(found).toEqual([]);
}

export const heading = (name: string) => screen.findByRole('heading', { level: 1, name });
export const toasts = () =>
  Array.from(document.querySelectorAll('.Toastify__toast'), (toast) => toast.textContent);
export const menuLinks = () =>
  Array.from(
    screen.getByRole('navigation', { name: 'Main' }).querySelectorAll('a'),
    (link) => link.textContent,
  );
