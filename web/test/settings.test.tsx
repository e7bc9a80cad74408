import { screen, waitFor, within } from '@testing-library/react';
import { compareSync } from 'bcryptjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { expectNoAxeViolations, heading, HOUR, logIn, menuLinks, toasts, visit } from './app';
import { answered, data, error, never, serve } from './server';

const current = () => screen.getByLabelText<HTMLInputElement>('Current password');
const fresh = () => screen.getByLabelText<HTMLInputElement>('New password');
const change = () => screen.getByRole('button', { name: 'Change password' });

async function open(handlers: Parameters<typeof serve>[0]) {
  logIn('my-token');
  localStorage.setItem('username', 'Marta');
  const calls = serve({ showLinks: never, ...handlers });
  const { user } = visit('/my-account/settings');
  await heading('Settings');
  return { user, calls };
}

describe('the settings page', () => {
  it('is linked from the account page', async () => {
    logIn();
    serve({ showLinks: never });
    const { user } = visit('/my-account');
    await user.click(await screen.findByRole('link', { name: 'Settings' }));
    await heading('Settings');
    expect(location.pathname).toBe('/my-account/settings');
    await expectNoAxeViolations();
  });

  it('redirects to the home page without a token, and to the login page after a session', async () => {
    serve({});
    visit('/my-account/settings').unmount();
    expect(location.pathname).toBe('/');
    logIn('old', -1);
    visit('/my-account/settings');
    await heading('Log in');
    screen.getByText('Your session has ended. Please log in again.');
  });
});

describe('changing the password', () => {
  it('sends the old password and a hash of the new one, and continues with a new session', async () => {
    const expirationTimestamp = Date.now() + HOUR;
    const { user, calls } = await open({
      changePassword: () => data({ success: true, token: 'new-token', expirationTimestamp }),
    });
    await user.type(current(), 'Senderos-1');
    await user.type(fresh(), 'Caminos-22');
    await user.click(change());
    await screen.findByText('Your password was changed. All other sessions were logged out.');
    const sent = calls[0]?.payload as Record<string, string>;
    expect(Object.keys(sent).sort()).toEqual(['new_password', 'new_salt', 'password', 'token']);
    expect(sent['token']).toBe('my-token');
    expect(sent['password']).toBe('Senderos-1');
    expect(sent['new_password']?.startsWith(sent['new_salt'] ?? 'none')).toBe(true);
    expect(compareSync('Caminos-22', sent['new_password'] ?? '')).toBe(true);
    expect(JSON.parse(localStorage.getItem('userToken') ?? '')).toMatchObject({
      token: 'new-token',
    });
    expect(localStorage.getItem('username')).toBe('Marta');
    expect(location.pathname).toBe('/my-account/settings');
    expect(current()).toHaveValue('');
    expect(fresh()).toHaveValue('');
  });

  it('revokes API keys and passkeys if wanted', async () => {
    const expirationTimestamp = Date.now() + HOUR;
    sessionStorage.setItem('newApiKey', 'atajo_key');
    const { user, calls } = await open({
      changePassword: () => data({ success: true, token: 'new-token', expirationTimestamp }),
    });
    const revoke = screen.getByRole('checkbox', { name: 'Also revoke all API keys and passkeys' });
    expect(revoke).toHaveAccessibleDescription(/somebody else may have used your account/);
    screen.getByText(/^A new password deletes your recovery codes/);
    await user.click(revoke);
    await user.type(current(), 'Senderos-1');
    await user.type(fresh(), 'Caminos-22{Enter}');
    await screen.findByText(/^Your password was changed/);
    expect(calls[0]?.payload).toMatchObject({ revoke: true });
    expect(revoke).not.toBeChecked();
    expect(sessionStorage.getItem('newApiKey')).toBeNull();
  });

  it('requires the old password and a new one that meets the rules', async () => {
    const { user, calls } = await open({});
    await user.type(fresh(), 'short');
    await user.click(change());
    expect(current()).toHaveAccessibleDescription('Please enter your password');
    expect(current()).toHaveFocus();
    expect(fresh()).toBeInvalid();
    expect(within(screen.getByRole('main')).getByText('Al menos 8 caracteres')).toBeVisible();
    expect(calls).toEqual([]);
    await expectNoAxeViolations();
  });

  it('says at its field that the old password is wrong', async () => {
    const { user } = await open({
      changePassword: () => data({ success: false, error: 'incorrect' }),
    });
    await user.type(current(), 'wrong');
    await user.type(fresh(), 'Caminos-22{Enter}');
    await waitFor(() => expect(current()).toHaveAccessibleDescription('Incorrect password'));
    expect(current()).toHaveFocus();
    expect(localStorage.getItem('userToken')).toContain('my-token');
  });

  it('says when there were too many attempts', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    const { user } = await open({
      changePassword: () => error(429, 'RESOURCE_EXHAUSTED', { 'retry-after': '540' }),
    });
    await user.type(current(), 'Senderos-1');
    await user.type(fresh(), 'Caminos-22{Enter}');
    await screen.findByText('Too many attempts. Please try again in 9 minutes.');
  });

  it('asks to log in again if the session has ended', async () => {
    localStorage.setItem('lastSession', 'my-token');
    const { user } = await open({
      changePassword: () => data({ success: false, error: 'invalid token' }),
    });
    await user.type(current(), 'Senderos-1');
    await user.type(fresh(), 'Caminos-22{Enter}');
    await heading('Log in');
    screen.getByText('Your session has ended. Please log in again.');
  });
});

describe('deleting the account', () => {
  const ask = async (handlers: Parameters<typeof serve>[0]) => {
    const { user, calls } = await open(handlers);
    await user.click(screen.getByRole('button', { name: 'Delete account' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Delete your account?' }));
    return { user, calls, dialog };
  };

  it('says what is deleted, asks for the password, and ends the session', async () => {
    const { user, calls, dialog } = await ask({ removeAccount: () => data({ success: true }) });
    dialog.getByText(/its links and their statistics are deleted permanently/);
    await expectNoAxeViolations();
    await user.type(dialog.getByLabelText('Password'), 'Senderos-1{Enter}');
    await heading('Shorten, share and track your links');
    expect(calls).toEqual([
      { name: 'removeAccount', payload: { token: 'my-token', password: 'Senderos-1' } },
    ]);
    expect(localStorage.getItem('userToken')).toBeNull();
    expect(localStorage.getItem('username')).toBeNull();
    expect(menuLinks()).toContain('LOGIN');
    await waitFor(() => expect(toasts()).toEqual(['Your account was deleted.']));
  });

  it('says at the field that the password is wrong', async () => {
    const { user, dialog } = await ask({
      removeAccount: () => data({ success: false, error: 'incorrect' }),
    });
    await user.click(dialog.getByRole('button', { name: 'Delete permanently' }));
    const field = dialog.getByLabelText('Password');
    expect(field).toHaveAccessibleDescription('Please enter your password');
    await user.type(field, 'wrong{Enter}');
    await waitFor(() => expect(field).toHaveAccessibleDescription('Incorrect password'));
    expect(localStorage.getItem('userToken')).not.toBeNull();
  });

  it('can be canceled', async () => {
    const { user, calls, dialog } = await ask({});
    await user.click(dialog.getByRole('button', { name: 'Cancel' }));
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(calls).toEqual([]);
  });
});

describe('downloading all links', () => {
  const link = (code: string, more: object = {}) => ({
    code,
    short_link: code,
    short_url: `https://atajo.example/${code}`,
    long_link: `https://example.org/${code}`,
    title: '',
    tags: [],
    state: 'active',
    reason: null,
    created_at: '2026-11-20T10:00:00Z',
    changed_at: null,
    expires_at: null,
    ended_url: null,
    public_statistics: false,
    views: 3,
    bots: null,
    scan_code: 'AB12-CD3',
    domain: 'go.example',
    ...more,
  });
  const many = Array.from({ length: 250 }, (_, at) => link(`code${String(at).padStart(4, '0')}`));
  const removed = link('removed0', { state: 'removed' });

  let saved: { blob: Blob; name: string }[] = [];
  beforeEach(() => {
    saved = [];
    let blob: Blob | undefined;
    URL.createObjectURL = (object) => {
      blob = object as Blob;
      return 'blob:x';
    };
    URL.revokeObjectURL = () => undefined;
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (
      this: HTMLAnchorElement,
    ) {
      if (blob) saved.push({ blob, name: this.download });
    });
  });
  afterEach(() => {
    Reflect.deleteProperty(URL, 'createObjectURL');
    Reflect.deleteProperty(URL, 'revokeObjectURL');
  });
  const text = async () => {
    const reader = new FileReader();
    const read = new Promise<string>((resolve) => {
      reader.onload = () => resolve(reader.result as string);
    });
    if (saved[0]) reader.readAsText(saved[0].blob);
    return read;
  };

  const pages = (active: object[], gone: object[]) => ({
    showLinks: ({ state, cursor, limit }: Record<string, unknown>) => {
      const all = state === 'removed' ? gone : active;
      const from = Number(cursor ?? 0);
      const to = from + Number(limit);
      const next = to < all.length ? String(to) : null;
      return data({
        success: true,
        links: all.slice(from, to),
        total: all.length,
        cursor: next,
      });
    },
  });
  const button = (name: string) =>
    screen.getByRole('button', { name: `Download my links as ${name}` });

  it('contains all of them once, in every state, as JSON', async () => {
    const [active, gone] = [[...many], [removed]];
    const { user, calls } = await open({
      showLinks: (payload) => {
        // A link of the first list is removed meanwhile.
        if (payload['state'] === 'removed') gone.push(...active.splice(0, 1));
        return pages(active, gone).showLinks(payload);
      },
    });
    await user.click(button('JSON'));
    await screen.findByText('251 links downloaded.', { selector: 'p' });
    // Three pages, one page, and a request for the current total of the first list.
    expect(calls).toHaveLength(5);
    expect(saved[0]?.name).toBe('atajo-links.json');
    const links = JSON.parse(await text()) as object[];
    expect(links).toHaveLength(251);
    expect(links[0]).toEqual(many[0]);
    expect(links[250]).toEqual(removed);
    await expectNoAxeViolations();
  });

  it('contains links that move between the lists meanwhile', async () => {
    const [active, gone] = [[...many], [removed]];
    const { user, calls } = await open({
      showLinks: (payload) => {
        // Links that were removed when the first list passed their position are restored before the
        // second one is read.
        if (payload['state'] === 'removed') active.push(...gone.splice(0));
        return pages(active, gone).showLinks(payload);
      },
    });
    await user.click(button('JSON'));
    await screen.findByText('251 links downloaded.', { selector: 'p' });
    const links = JSON.parse(await text()) as { code: string }[];
    expect(links.map(({ code }) => code)).toEqual([...many.map(({ code }) => code), 'removed0']);
    expect(calls).toHaveLength(10);
  });

  it('ends if links keep being created', async () => {
    const there: object[] = [];
    const { user, calls } = await open({
      showLinks: (payload) => {
        there.push(link(`code${String(there.length).padStart(4, '0')}`));
        return pages(there, []).showLinks(payload);
      },
    });
    await user.click(button('JSON'));
    await screen.findByText('7 links downloaded.', { selector: 'p' });
    expect(calls).toHaveLength(9);
  });

  it('is a CSV file without formulas', async () => {
    const odd = [
      link('-dash000', {
        title: '=HYPERLINK("https://evil.example")',
        tags: ['@one', 'two, "three"'],
        expires_at: '2026-12-01T00:00:00Z',
        public_statistics: true,
      }),
    ];
    const { user } = await open(pages(odd, []));
    await user.click(button('CSV'));
    await screen.findByText('1 link downloaded.', { selector: 'p' });
    expect(saved[0]?.name).toBe('atajo-links.csv');
    expect(saved[0]?.blob.type).toBe('text/csv;charset=utf-8');
    const [head, line, end] = (await text()).split('\r\n');
    expect(head?.replace('\ufeff', '')).toBe(
      'code,short_link,short_url,long_link,title,tags,state,reason,created_at,changed_at,' +
        'expires_at,ended_url,public_statistics,views,bots,scan_code,domain',
    );
    expect(line).toBe(
      "'-dash000,'-dash000,https://atajo.example/-dash000,https://example.org/-dash000," +
        `"'=HYPERLINK(""https://evil.example"")","'@one;two, ""three""",active,,` +
        '2026-11-20T10:00:00Z,,2026-12-01T00:00:00Z,,true,3,,AB12-CD3,go.example',
    );
    expect(end).toBe('');
  });

  it('shows its progress, waits if the server asks, and can be canceled', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    const { showLinks } = pages(many, []);
    let asked = 0;
    const { user, calls } = await open({
      showLinks: (payload) => {
        asked += 1;
        if (asked === 1) return error(429, 'RESOURCE_EXHAUSTED', { 'retry-after': '0' });
        return asked === 2 ? showLinks(payload) : never();
      },
    });
    await user.click(button('CSV'));
    await screen.findByText('100 of 250 links');
    expect(screen.getByRole('progressbar', { name: 'Links downloaded' })).toHaveAttribute(
      'value',
      '100',
    );
    expect(calls.length).toBeGreaterThanOrEqual(2);
    await expectNoAxeViolations();
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(screen.queryByRole('progressbar')).toBeNull();
    await answered();
    expect(saved).toEqual([]);
  });

  it('is a ZIP with everything, including earlier destinations', async () => {
    const { Kit } = await import('../src/features/export/kit');
    const worker = await import('../src/features/export/worker');
    vi.spyOn(worker, 'startKit').mockImplementation((origin) => {
      const kit = new Kit(origin);
      return {
        add: (links) => kit.add(links),
        end: (onProgress) => {
          onProgress(3, 12);
          const file = [...kit.files()].find(({ name }) => name === 'links.json');
          return Promise.resolve(file?.input ?? new Blob());
        },
      };
    });
    const changed = link('changed0', { changed_at: '2026-11-21T10:00:00Z' });
    const history = [{ long_link: 'https://before.example/', until: '2026-11-21T10:00:00Z' }];
    const { user, calls } = await open({
      ...pages([link('plain000'), changed], [removed]),
      showLink: () => data({ success: true, link: changed, history }),
    });
    await user.click(screen.getByRole('button', { name: 'Download everything' }));
    await screen.findByText('3 links downloaded.', { selector: 'p' });
    expect(saved[0]?.name).toBe('atajo-links.zip');
    const asked = calls.filter(({ name }) => name === 'showLink');
    expect(asked.map(({ payload }) => payload['code'])).toEqual(['changed0']);
    const links = JSON.parse(await text()) as { code: string; history: object[] }[];
    expect(links.map((one) => [one.code, one.history])).toEqual([
      ['plain000', []],
      ['changed0', history],
      ['removed0', []],
    ]);
    await expectNoAxeViolations();
  });

  it('says when it fails', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    const { user } = await open({ showLinks: () => error(400, 'INVALID_ARGUMENT') });
    await user.click(button('CSV'));
    await screen.findByText('The download failed. Please try again.', { selector: 'p' });
    expect(saved).toEqual([]);
  });
});
