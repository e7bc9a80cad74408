/** The expiry of a link, across changes of the clock. */
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { heading, logIn, visit } from './app';
import { changed, details, link } from './links';
import { serve } from './server';

const IN_AN_HOUR = 'In an hour';

beforeEach(() => void vi.stubEnv('TZ', 'Europe/Madrid'));
afterEach(() => void vi.unstubAllEnvs());

/** Opens the form of a link with this expiry, at the time `now`. */
async function open(expires_at: string | null, now = '2026-10-24T10:00:00Z') {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(now) });
  logIn();
  const one = link('fiesta-2026', 'https://ayuntamiento.example/', { expires_at });
  const calls = serve({ showLink: () => details(one), changeLink: () => changed(one) });
  const { user } = visit('/links/fiesta-2026');
  await heading('localhost:3000/fiesta-2026');
  await user.click(
    await screen.findByRole('button', { name: /^(Set an expiry date|Change the expiry date)$/ }),
  );
  const press = (name: string) => user.click(screen.getByRole('button', { name }));
  const saved = async () => {
    await press('Save');
    const change = () => calls.findLast((call) => call.name === 'changeLink');
    await waitFor(() => expect(change()).toBeDefined());
    return change()?.payload['changes'];
  };
  return { press, saved };
}
const field = () => screen.getByLabelText('Expires at');

describe('an expiry date', () => {
  it('in an hour is an hour later, even if the clock goes back', async () => {
    const { press, saved } = await open(null, '2026-10-25T00:30:00Z');
    await press(IN_AN_HOUR);
    expect(field()).toHaveValue('2026-10-25T02:30');
    expect(field()).toHaveAccessibleDescription('Central European Standard Time.');
    expect(await saved()).toEqual({ expires_at: '2026-10-25T01:30:00.000Z' });
  });

  it('in an hour is rounded up to a whole minute', async () => {
    const { press, saved } = await open(null, '2026-10-24T10:00:01Z');
    await press(IN_AN_HOUR);
    expect(field()).toHaveValue('2026-10-24T13:01');
    expect(await saved()).toEqual({ expires_at: '2026-10-24T11:01:00.000Z' });
  });

  it.each(['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-12-01T17:00:59Z'])(
    'at %s is unchanged until the user changes it',
    async (end) => {
      const { saved } = await open(end);
      expect(await saved()).toEqual({ expires_at: end });
    },
  );

  it('is what the user types, and the form says when it has passed', async () => {
    const { press, saved } = await open('2026-12-01T17:00:59Z');
    fireEvent.change(field(), { target: { value: '2026-10-24T11:59' } });
    screen.getByText(/This time has passed. The link expires at once\.$/);
    await press(IN_AN_HOUR);
    expect(screen.queryByText(/This time has passed/)).toBeNull();
    fireEvent.change(field(), { target: { value: '2026-12-01T18:00' } });
    expect(await saved()).toEqual({ expires_at: '2026-12-01T17:00:00.000Z' });
  });
});
