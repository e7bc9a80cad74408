import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { expectNoAxeViolations, heading, logIn, visit } from './app';
import { data, error, never, serve } from './server';

const KEY = `atajo_${'a1B2'.repeat(9)}`;
const DAY = 86_400_000;

const apiKey = (name: string, fields = {}) => ({
  id: name,
  name,
  prefix: 'atajo_a1B2a1',
  scopes: ['links:read', 'statistics:read'],
  created_at: '2026-11-20T09:00:00Z',
  expires_at: null,
  last_used_at: null,
  ...fields,
});

async function open(handlers: Parameters<typeof serve>[0]) {
  logIn('my-token');
  const calls = serve({ showLinks: never, ...handlers });
  const { user } = visit('/my-account/settings');
  await heading('Settings');
  const section = within(await screen.findByRole('region', { name: 'API keys' }));
  return { user, calls, section };
}

describe('the API keys of an account', () => {
  it('are listed with scopes, dates and last use', async () => {
    const past = '2026-01-02T10:00:00Z';
    const { section } = await open({
      listKeys: () =>
        data({
          success: true,
          keys: [
            apiKey('backup', {
              last_used_at: '2026-11-21T10:30:00Z',
              created_by: {
                id: '1',
                created_at: '2026-11-20T08:55:00Z',
                browser: 'Firefox',
                system: 'Linux',
              },
            }),
            apiKey('old script', { expires_at: past }),
          ],
        }),
    });
    const [first, second] = within(
      await section.findByRole('list', { name: 'Your API keys' }),
    ).getAllByRole('listitem');
    expect(first).toHaveTextContent('backup atajo_a1B2a1…');
    expect(first).toHaveTextContent('links:read, statistics:read');
    expect(first).toHaveTextContent(
      /Created 20 Nov 2026 Created in Firefox on Linux \(session of 20 Nov 2026, .*\) No expiry date Last used 21 Nov/,
    );
    expect(second).toHaveTextContent(/Expired 2 Jan 2026 Never used/);
    await expectNoAxeViolations();
  });

  it('are created with name, permissions and expiry, and shown once', async () => {
    let keys: unknown[] = [];
    const { user, calls, section } = await open({
      listKeys: () => data({ success: true, keys }),
      createKey: () => data({ success: true, id: '1', key: KEY }),
    });
    await section.findByText('You have no API keys.');
    await user.type(section.getByLabelText('Name'), ' backup ');
    await user.click(section.getByRole('checkbox', { name: /^statistics:read/ }));
    await user.selectOptions(section.getByLabelText('Expires'), 'In 30 days');
    await user.type(section.getByLabelText('Password'), 'Senderos-1');
    keys = [apiKey('backup')];
    await user.click(section.getByRole('button', { name: 'Create key' }));
    const plate = await section.findByRole('button', { name: `${KEY} Copy` });
    expect(plate).toHaveFocus();
    section.getByText(/shown only this once/);
    await section.findByRole('list', { name: 'Your API keys' });
    await expectNoAxeViolations();

    const { payload } = calls.find(({ name }) => name === 'createKey') ?? {};
    expect(payload).toMatchObject({
      token: 'my-token',
      password: 'Senderos-1',
      name: 'backup',
      scopes: ['links:read', 'statistics:read'],
    });
    const lifetime = Date.parse(String(payload?.['expires_at'])) - Date.now();
    expect(Math.round(lifetime / DAY)).toBe(30);

    await user.click(plate);
    await section.findByRole('button', { name: `${KEY} Copied` });
    expect(await navigator.clipboard.readText()).toBe(KEY);
    await user.click(section.getByRole('button', { name: 'Done' }));
    expect(screen.queryByText(KEY)).toBeNull();
    section.getByRole('button', { name: 'Create key' });
  });

  it('are not created with a wrong password', async () => {
    const { user, section } = await open({
      listKeys: () => data({ success: true, keys: [] }),
      createKey: () => data({ success: false, error: 'incorrect' }),
    });
    await user.type(await section.findByLabelText('Name'), 'backup');
    const password = section.getByLabelText('Password');
    await user.type(password, 'wrong{Enter}');
    await waitFor(() => expect(password).toHaveAccessibleDescription('Incorrect password'));
    expect(password).toHaveFocus();
    expect(section.getByLabelText('Name')).toHaveValue('backup');
  });

  it('need a name, a permission and the password', async () => {
    const { user, calls, section } = await open({
      listKeys: () => data({ success: true, keys: [] }),
    });
    const create = await section.findByRole('button', { name: 'Create key' });
    await user.click(create);
    const name = section.getByLabelText('Name');
    expect(name).toHaveFocus();
    expect(name).toHaveAccessibleDescription(/Please enter a name of at most 50 characters/);
    await user.type(name, 'backup');
    await user.click(section.getByRole('checkbox', { name: /^links:read/ }));
    await user.click(create);
    expect(section.getByRole('group', { name: 'Permissions' })).toHaveAccessibleDescription(
      'Please select at least one permission',
    );
    await user.click(section.getByRole('checkbox', { name: /^links:read/ }));
    await user.click(create);
    expect(section.getByLabelText('Password')).toHaveFocus();
    expect(section.getByLabelText('Password')).toHaveAccessibleDescription(
      'Please enter your password',
    );
    await expectNoAxeViolations();
    expect(calls.map(({ name: called }) => called)).toEqual(['listKeys']);
  });

  it('can be twenty', async () => {
    const keys = Array.from({ length: 20 }, (_, number) => apiKey(`key ${number}`));
    const { section } = await open({ listKeys: () => data({ success: true, keys }) });
    await section.findByText(/You have 20 keys, which is the maximum/);
    expect(section.queryByRole('button', { name: 'Create key' })).toBeNull();
  });

  it('are not created twice by impatience, and a refusal is explained', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    const { user, calls, section } = await open({
      listKeys: () => data({ success: true, keys: [] }),
      createKey: () => error(429, 'RESOURCE_EXHAUSTED', {}, { reason: 'TOO_MANY_KEYS' }),
    });
    await user.type(await section.findByLabelText('Name'), 'backup');
    await user.type(section.getByLabelText('Password'), 'Senderos-1{Enter}{Enter}');
    await section.findByText(/which is the maximum/);
    expect(calls.filter(({ name }) => name === 'createKey').length).toBeLessThanOrEqual(2);
    expect(section.getByLabelText('Name')).toHaveValue('backup');
  });

  it('are revoked after a warning', async () => {
    const { user, calls, section } = await open({
      listKeys: () => data({ success: true, keys: [apiKey('backup'), apiKey('other')] }),
      revokeKey: () => data({ success: true }),
    });
    await user.click(await section.findByRole('button', { name: 'Revoke backup' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Revoke the key “backup”?' }));
    dialog.getByText(/stop working within seconds. This cannot be undone./);
    await expectNoAxeViolations();
    await user.click(dialog.getByRole('button', { name: 'Revoke' }));
    await section.findByText('The key “backup” was revoked. You have 1 key left.');
    await waitFor(() =>
      expect(section.queryByRole('button', { name: 'Revoke backup' })).toBeNull(),
    );
    expect(calls.at(-1)).toEqual({
      name: 'revokeKey',
      payload: { token: 'my-token', id: 'backup' },
    });
  });

  it('can be loaded again after a failure', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    let fails = true;
    const { user, section } = await open({
      listKeys: () => (fails ? 'network error' : data({ success: true, keys: [] })),
    });
    await section.findByText('Your API keys could not be loaded.');
    fails = false;
    await user.click(section.getByRole('button', { name: 'Try again' }));
    await section.findByText('You have no API keys.');
  });

  it('lead to the login page when the session has ended', async () => {
    localStorage.setItem('lastSession', 'my-token');
    logIn('my-token');
    serve({ showLinks: never, listKeys: () => data({ success: false, error: 'invalid token' }) });
    visit('/my-account/settings');
    await heading('Log in');
  });
});
