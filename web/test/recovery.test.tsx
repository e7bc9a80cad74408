import { screen, waitFor, within } from '@testing-library/react';
import { compareSync } from 'bcryptjs';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { expectNoAxeViolations, heading, logIn, toasts, visit } from './app';
import { data, error, never, serve } from './server';

const CODES = Array.from({ length: 10 }, (_, number) => `7KQM-2XBD-9RT${number}`);

async function open(handlers: Parameters<typeof serve>[0]) {
  logIn('my-token');
  localStorage.setItem('username', 'Marta');
  const calls = serve({ showLinks: never, ...handlers });
  const { user } = visit('/my-account/settings');
  await heading('Settings');
  const section = within(await screen.findByRole('region', { name: 'Recovery codes' }));
  return { user, calls, section };
}

describe('recovery codes in the settings', () => {
  it('are created with the password, and shown once', async () => {
    const { user, calls, section } = await open({
      countRecoveryCodes: () => data({ success: true, left: 0 }),
      createRecoveryCodes: () => data({ success: true, codes: CODES }),
    });
    await section.findByText('You have no recovery codes yet.');
    section.getByText(/Atajo sends no email/);
    await user.click(section.getByRole('button', { name: 'Create recovery codes' }));
    const dialog = within(screen.getByRole('dialog', { name: 'Create recovery codes' }));
    await user.type(dialog.getByLabelText('Password'), 'Senderos-1{Enter}');
    const list = await section.findByRole('list', { name: 'Your new recovery codes' });
    expect(within(list).getAllByRole('listitem')).toHaveLength(10);
    expect(list).toHaveTextContent(CODES[9] ?? 'none');
    expect(screen.getByRole('heading', { name: 'Your new recovery codes' })).toHaveFocus();
    expect(calls.at(-1)).toEqual({
      name: 'createRecoveryCodes',
      payload: { token: 'my-token', password: 'Senderos-1' },
    });
    await expectNoAxeViolations();
    await user.click(section.getByRole('button', { name: 'Done' }));
    section.getByText('You have 10 codes left.');
    expect(document.body).not.toHaveTextContent(CODES[0] ?? 'none');
  });

  it('can be copied, downloaded and printed', async () => {
    const { user, section } = await open({
      createRecoveryCodes: () => data({ success: true, codes: CODES }),
    });
    await user.click(await section.findByRole('button', { name: 'Create recovery codes' }));
    await user.type(
      within(screen.getByRole('dialog')).getByLabelText('Password'),
      'Senderos-1{Enter}',
    );
    await user.click(await section.findByRole('button', { name: 'Copy' }));
    expect(await navigator.clipboard.readText()).toBe(CODES.join('\n'));

    const saved = vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:codes');
    await user.click(section.getByRole('button', { name: 'Download' }));
    const file = await (saved.mock.calls[0]?.[0] as Blob).text();
    expect(file).toContain('Recovery codes for Marta on localhost');
    expect(file).toContain(CODES.join('\n'));

    const print = vi.spyOn(window, 'print').mockReturnValue();
    await user.click(section.getByRole('button', { name: 'Print' }));
    expect(print).toHaveBeenCalledOnce();
  });

  it('are replaced only after a warning, and not with a wrong password', async () => {
    const { user, section } = await open({
      countRecoveryCodes: () =>
        data({ success: true, left: 1, created_at: '2026-11-20T09:00:00.000Z' }),
      createRecoveryCodes: () => data({ success: false, error: 'incorrect' }),
    });
    await section.findByText('You have 1 code left.');
    section.getByText(/^Created 20 Nov 2026/);
    await user.click(section.getByRole('button', { name: 'Create new codes' }));
    const dialog = within(screen.getByRole('dialog'));
    dialog.getByText('The codes that you have now will stop working.');
    const password = dialog.getByLabelText('Password');
    await user.type(password, 'wrong{Enter}');
    await waitFor(() => expect(password).toHaveAccessibleDescription('Incorrect password'));
    await user.click(dialog.getByRole('button', { name: 'Cancel' }));
    section.getByText('You have 1 code left.');
  });

  it('can be loaded again after a failure', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    let fails = true;
    const { user, section } = await open({
      countRecoveryCodes: () => (fails ? 'network error' : data({ success: true, left: 7 })),
    });
    await section.findByText('Your recovery codes could not be loaded.');
    fails = false;
    await user.click(section.getByRole('button', { name: 'Try again' }));
    await section.findByText('You have 7 codes left.');
  });
});

describe('the page for a forgotten password', () => {
  const email = () => screen.getByLabelText<HTMLInputElement>('Email');
  const code = () => screen.getByLabelText<HTMLInputElement>('Recovery code');
  const password = () => screen.getByLabelText<HTMLInputElement>('New password');
  const submit = () => screen.getByRole('button', { name: 'Set password' });

  async function openPage(handlers: Parameters<typeof serve>[0], hash = '') {
    const calls = serve(handlers);
    const { user } = visit(`/reset-password${hash}`);
    await heading('Set a new password');
    return { user, calls };
  }

  it('is linked from the login page, and says that there is no email', async () => {
    serve({});
    const { user } = visit('/login');
    await user.click(await screen.findByRole('link', { name: 'Forgot your password?' }));
    await heading('Set a new password');
    screen.getByText(/Atajo sends no email/);
    await expectNoAxeViolations();
  });

  it('sets a password with a code, and leads to the login page', async () => {
    logIn('old-token');
    const { user, calls } = await openPage({
      resetPassword: () => data({ success: true }),
      endSession: () => data({ success: true }),
    });
    await user.type(email(), ' marta@example.com');
    await user.type(code(), '7kqm-2xbd-9rt4');
    await user.type(password(), 'Caminos-22{Enter}');
    await heading('Log in');
    expect(screen.getByLabelText('Email')).toHaveValue('marta@example.com');
    await waitFor(() =>
      expect(toasts()).toEqual(['Your password was changed. You can log in with it now.']),
    );
    const [call] = calls;
    const payload = call?.payload ?? {};
    expect(call?.name).toBe('resetPassword');
    expect(payload).toMatchObject({
      email: 'marta@example.com',
      recovery_code: '7kqm-2xbd-9rt4',
      device: null,
    });
    expect(payload).not.toHaveProperty('revoke');
    expect(String(payload['new_password']).startsWith(String(payload['new_salt']))).toBe(true);
    expect(compareSync('Caminos-22', String(payload['new_password']))).toBe(true);
    expect(localStorage.getItem('userToken')).toBeNull();
    // The session may be of another account.
    await waitFor(() =>
      expect(calls[1]).toEqual({ name: 'endSession', payload: { token: 'old-token', id: null } }),
    );
  });

  it('takes email and code from a link, which does not stay in the address bar', async () => {
    await openPage({}, '#email=marta%2B1%40example.com&code=7KQM-2XBD-9RT4');
    expect(email()).toHaveValue('marta+1@example.com');
    expect(code()).toHaveValue('7KQM-2XBD-9RT4');
    await waitFor(() => expect(location.hash).toBe(''));
    expect(code()).toHaveValue('7KQM-2XBD-9RT4');
  });

  it('offers to revoke API keys and passkeys, which a link always does', async () => {
    const reply = () => data({ success: true });
    const { user, calls } = await openPage(
      { resetPassword: reply },
      '#email=marta%40example.com&code=7KQM-2XBD-9RT4',
    );
    const option = { name: 'Also revoke all API keys and passkeys' };
    screen.getByText(/^This link also deletes your recovery codes and revokes/);
    expect(screen.queryByRole('checkbox', option)).toBeNull();
    await user.clear(code());
    await user.type(code(), '7KQM-2XBD-9RT5');
    await user.click(screen.getByRole('checkbox', option));
    expect(screen.queryByText(/^This link/)).toBeNull();
    await expectNoAxeViolations();
    await user.type(password(), 'Caminos-22{Enter}');
    await heading('Log in');
    expect(calls[0]?.payload).toMatchObject({ recovery_code: '7KQM-2XBD-9RT5', revoke: true });
  });

  it('requires all fields', async () => {
    const { user, calls } = await openPage({});
    await user.click(submit());
    expect(email()).toHaveFocus();
    expect(email()).toHaveAccessibleDescription('Please enter an email address');
    expect(code()).toHaveAccessibleDescription('Please enter a recovery code');
    expect(password()).toBeInvalid();
    expect(calls).toEqual([]);
    await expectNoAxeViolations();
  });

  it.each([
    [data({ success: false, error: 'incorrect' }), 'The email or the recovery code is wrong'],
    [
      error(429, 'RESOURCE_EXHAUSTED', { 'retry-after': '540' }),
      'Too many attempts. Please try again in 9 minutes.',
    ],
    ['network error' as const, /^There was no answer. Your password may have been changed/],
  ])('explains a failure', async (reply, text) => {
    vi.spyOn(console, 'error').mockReturnValue();
    const { user } = await openPage({ resetPassword: () => reply });
    await user.type(email(), 'marta@example.com');
    await user.type(code(), '7KQM-2XBD-9RT4');
    await user.type(password(), 'Caminos-22{Enter}');
    await screen.findByText(text);
    expect(code()).toHaveValue('7KQM-2XBD-9RT4');
    expect(location.pathname).toBe('/reset-password');
  });
});

describe('the offer of recovery codes', () => {
  beforeEach(() => {
    serve({ showLinks: never });
    logIn();
  });

  it('is made once after a registration', async () => {
    localStorage.setItem('offerRecoveryCodes', 'yes');
    const { user, unmount } = visit('/my-account');
    const link = await screen.findByRole('link', { name: 'Create recovery codes' });
    expect(link).toHaveAttribute('href', '/my-account/settings#recovery-codes');
    await user.click(screen.getByRole('button', { name: 'Not now' }));
    expect(screen.queryByRole('link', { name: 'Create recovery codes' })).toBeNull();
    unmount();
    visit('/my-account');
    await heading('Your links');
    expect(screen.queryByRole('link', { name: 'Create recovery codes' })).toBeNull();
  });

  it('is not made otherwise', async () => {
    visit('/my-account');
    await heading('Your links');
    expect(screen.queryByRole('link', { name: 'Create recovery codes' })).toBeNull();
  });
});
