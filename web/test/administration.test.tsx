/** The page of administrators, with a server that keeps a queue of reports. */
import { act, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { takeLogin } from '../src/lib/oidc';
import { expectNoAxeViolations, heading, logIn, visit } from './app';
import { answered, data, error, serve, settled, type Call } from './server';

const TIME = '2026-11-20T18:00:00Z';
const PAGE = 25;

interface Reported {
  code: string;
  long_link: string;
  reports: number;
}

function reportedLinks(count: number): Reported[] {
  return Array.from({ length: count }, (_, index) => ({
    code: `code-${String(index).padStart(3, '0')}`,
    long_link: `https://bad-${index}.example/log-in?user=1`,
    reports: count - index,
  }));
}

const listed = (link: Reported) => ({
  ...link,
  state: 'active',
  created_at: TIME,
  views: 12,
  classes: ['malware', 'spam'],
  first_reported_at: TIME,
  last_reported_at: TIME,
});

const showFile = (link: Reported) =>
  data({
    success: true,
    link: {
      code: link.code,
      long_link: link.long_link,
      state: 'active',
      reason: null,
      created_at: TIME,
      changed_at: TIME,
      owner: 'guest',
    },
    reports: [
      { id: 'r', reason: 'malware', details: 'It asks', contact: 'a@b.example', created_at: TIME },
    ],
    decisions: [
      {
        id: 'd',
        at: TIME,
        action: 'unblock',
        subject: link.code,
        class: null,
        comment: 'a mistake',
        by: 'operator',
      },
    ],
    history: [{ long_link: 'https://before.example/', until: TIME }],
  });

type Handlers = Parameters<typeof serve>[0];

/** Serves a queue of reported links, by pages, from which decisions take links. */
function serveQueue(count: number, handlers: Handlers = {}): Call[] {
  const links = reportedLinks(count);
  const pending = new Map(links.map((link) => [link.code, link]));
  const file = (code: unknown) => links.find((link) => link.code === code) ?? links[0];
  return serve({
    listReports: ({ cursor }) => {
      const rest = [...pending.values()];
      const from = cursor === null ? 0 : rest.findIndex(({ code }) => code > (cursor as string));
      const page = from === -1 ? [] : rest.slice(from, from + PAGE);
      const isLast = from === -1 || from + PAGE >= rest.length;
      return data({
        success: true,
        reports: page.map(listed),
        cursor: isLast ? null : (page.at(-1)?.code ?? null),
      });
    },
    showReports: ({ code }) => showFile(file(code) as Reported),
    previewLink: ({ code }) =>
      data({
        success: true,
        preview: {
          code,
          long_link: file(code)?.long_link,
          host: 'bad.example',
          state: 'active',
          reason: null,
          created_at: TIME,
          changed_at: null,
          title: '',
          warnings: ['unusual port'],
        },
      }),
    decide: ({ subject, action }) => {
      if (action !== 'unblock') pending.delete(String(subject));
      return data({ success: true, decision: 'd1' });
    },
    ...handlers,
  });
}

const decisionsIn = (calls: Call[]) =>
  calls.filter(({ name }) => name === 'decide').map(({ payload }) => payload);

async function open(section = '', handlers: Handlers = {}, count = 3) {
  const calls = serveQueue(count, handlers);
  logIn();
  const { user } = visit(`/admin${section && `#${section}`}`);
  await heading('Administration');
  return { user, calls };
}

/** Finds a text of the page. Announcements to screen readers have it, too. */
const shown = async (text: string | RegExp, options?: { exact: boolean }) =>
  within(await screen.findByRole('main')).findByText(text, options);
const queue = () => screen.findByRole('list', { name: 'Links that await a decision' });
const press = (user: Awaited<ReturnType<typeof open>>['user'], keys: string) => user.keyboard(keys);

afterEach(() => {
  for (const meta of document.querySelectorAll('meta[name^="atajo-"]')) meta.remove();
});

describe('the page of administrators', () => {
  it('does not exist for members', async () => {
    const calls = serve({ listReports: () => data({ success: false, error: 'not allowed' }) });
    logIn();
    visit('/admin');
    await heading('PAGE NOT FOUND');
    expect(calls.map(({ name }) => name)).toEqual(['listReports']);
  });

  it('does not exist for strangers, and calls nothing', async () => {
    const calls = serve({});
    visit('/admin');
    await heading('PAGE NOT FOUND');
    expect(calls).toEqual([]);
  });

  it('does not exist where the operator turned it off', async () => {
    const meta = document.createElement('meta');
    meta.name = 'atajo-admin-pages';
    meta.content = 'off';
    document.head.append(meta);
    const calls = serve({});
    logIn();
    visit('/admin');
    await heading('PAGE NOT FOUND');
    expect(calls).toEqual([]);
  });

  it('leads to the log-in page once the session has ended', async () => {
    localStorage.setItem('lastSession', 'ended');
    visit('/admin#accounts');
    await heading('Log in');
    screen.getByText('Your session has ended. Please log in again.');
  });

  it('becomes a page that does not exist when the role is taken away', async () => {
    const { user } = await open('', {
      decide: () => data({ success: false, error: 'not allowed' }),
    });
    await queue();
    await press(user, 'd');
    await heading('PAGE NOT FOUND');
  });
});

describe('reports', () => {
  it('shows the most reported link, with a destination that is no link', async () => {
    await open();
    const rows = within(await queue()).getAllByRole('button');
    expect(rows).toHaveLength(3);
    expect(rows[0]).toHaveAttribute('aria-current', 'true');
    await shown('What was reported');
    screen.getByText('https://bad-0.example/log-in?user=1');
    for (const link of document.querySelectorAll('a, img, iframe, link, script')) {
      expect(`${link.getAttribute('href')} ${link.getAttribute('src')}`).not.toContain('.example');
    }
    await shown('The URL has an unusual port.');
    screen.getByText('https://before.example/');
    screen.getByText('“a mistake”');
    await expectNoAxeViolations();
  });

  it('decides forty links by keys alone', async () => {
    const { user, calls } = await open('', {}, 40);
    await queue();
    for (let link = 0; link < 40; link += 1) await press(user, link % 2 === 0 ? 'b' : 'd');
    await shown('No link awaits a decision.');
    await answered();
    const made = decisionsIn(calls);
    expect(made.map(({ subject }) => subject)).toEqual(reportedLinks(40).map(({ code }) => code));
    expect(made[0]).toEqual({
      token: 'a-token',
      subject: 'code-000',
      action: 'block',
      class: 'malware',
      comment: '',
    });
    expect(made[1]).toEqual({ token: 'a-token', subject: 'code-001', action: 'dismiss' });
  });

  it('has keys for the next and the previous link, the class and the comment', async () => {
    const { user, calls } = await open();
    await queue();
    await press(user, 'nnp1c');
    // Within the comment, keys are letters.
    await press(user, 'bdnu{Enter}');
    expect(decisionsIn(calls)).toEqual([]);
    await press(user, 'b');
    await waitFor(() => expect(decisionsIn(calls)).toHaveLength(1));
    expect(decisionsIn(calls)[0]).toMatchObject({
      subject: 'code-001',
      class: 'phishing',
      comment: 'bdnu',
    });
  });

  it('leaves keys alone if they are turned off, or with Ctrl', async () => {
    const { user, calls } = await open();
    await queue();
    await press(user, '{Control>}b{/Control}');
    await user.click(screen.getByRole('checkbox', { name: 'Use single-key shortcuts' }));
    (document.activeElement as HTMLElement).blur();
    await press(user, 'b');
    expect(decisionsIn(calls)).toEqual([]);
    await user.click(screen.getByRole('checkbox', { name: 'Use single-key shortcuts' }));
  });

  it('undoes a block: the link works again, and is the selected one', async () => {
    const { user, calls } = await open();
    await queue();
    await press(user, 'b');
    await shown('code-000 was blocked as malware.', { exact: false });
    expect(within(await queue()).getAllByRole('button')).toHaveLength(2);
    await press(user, 'u');
    await shown('code-000 works again, and is in the list until you leave it.');
    expect(decisionsIn(calls)[1]).toEqual({
      token: 'a-token',
      subject: 'code-000',
      action: 'unblock',
    });
    const rows = within(await queue()).getAllByRole('button');
    expect(rows[0]).toHaveTextContent('bad-0.example');
    expect(rows[0]).toHaveAttribute('aria-current', 'true');
  });

  it('undoes the dismissal of the last link', async () => {
    const { user, calls } = await open('', {}, 1);
    await queue();
    await press(user, 'd');
    await shown('No link awaits a decision.');
    await press(user, 'u');
    await queue();
    expect(decisionsIn(calls)).toHaveLength(1);
  });

  it('keeps a link whose decision failed', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    const { user } = await open('', { decide: () => error(503, 'UNAVAILABLE') });
    await queue();
    await press(user, 'b');
    await shown('code-000 is undecided. It did not work. Please try again.', {
      exact: false,
    });
    expect(within(await queue()).getAllByRole('button')).toHaveLength(3);
  });

  it('asks for the password of an old session, and goes on', async () => {
    let isConfirmed = false;
    const { user, calls } = await open('', {
      decide: () =>
        data(isConfirmed ? { success: true, decision: 'd' } : { success: false, error: 'confirm' }),
      confirmSession: ({ password }) => {
        isConfirmed = password === 'Senderos-1';
        return data(isConfirmed ? { success: true } : { success: false, error: 'incorrect' });
      },
    });
    await queue();
    await press(user, 'b');
    const dialog = await screen.findByRole('dialog', { name: 'Confirm that it is you' });
    await expectNoAxeViolations();
    const password = within(dialog).getByLabelText('Password');
    await user.type(password, 'wrong{Enter}');
    await within(dialog).findByText('Incorrect password');
    await user.clear(password);
    await user.type(password, 'Senderos-1{Enter}');
    await shown('code-000 was blocked as malware.', { exact: false });
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(decisionsIn(calls)).toHaveLength(2);
  });

  it('says that nothing was changed if nobody confirms', async () => {
    const { user } = await open('', { decide: () => data({ success: false, error: 'confirm' }) });
    await queue();
    await press(user, 'd');
    const dialog = await screen.findByRole('dialog');
    await user.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    await shown(/code-000 is undecided\. Nothing was changed/);
  });

  it('asks at once if the session is old when the page opens', async () => {
    let isConfirmed = false;
    serveQueue(1, {
      listReports: () =>
        data(
          isConfirmed
            ? { success: true, reports: [], cursor: null }
            : { success: false, error: 'confirm' },
        ),
      confirmSession: () => {
        isConfirmed = true;
        return data({ success: true });
      },
    });
    logIn();
    const { user } = visit('/admin');
    const dialog = await screen.findByRole('dialog', { name: 'Confirm that it is you' });
    await user.type(within(dialog).getByLabelText('Password'), 'Senderos-1{Enter}');
    await shown('No link awaits a decision.');
  });
});

it('leaves for the provider to confirm an account without a password, and comes back', async () => {
  const meta = document.createElement('meta');
  meta.name = 'atajo-oidc-name';
  meta.content = 'Camino';
  document.head.append(meta);
  const { user, calls } = await open('decisions', {
    listDecisions: () => data({ success: false, error: 'confirm' }),
    listConnections: () => data({ success: true, has_password: false, connections: [] }),
    // The test's browser can go nowhere else.
    beginOidc: () => data({ success: true, url: location.href }),
  });
  const dialog = await screen.findByRole('dialog', { name: 'Confirm that it is you' });
  await within(dialog).findByText(/^Your account has no password\./);
  await user.click(within(dialog).getByRole('button', { name: 'Confirm' }));
  await waitFor(() => expect(calls.map(({ name }) => name)).toContain('beginOidc'));
  await waitFor(() =>
    expect(takeLogin()).toMatchObject({ to: '/admin#decisions', token: 'a-token' }),
  );
});

describe('links', () => {
  const search = async (user: Awaited<ReturnType<typeof open>>['user'], text: string) => {
    await user.type(
      screen.getByRole('searchbox', { name: 'Link, host or path' }),
      `${text}{Enter}`,
    );
  };

  it('says why a host is blocked, asks before it blocks it, and unblocks it', async () => {
    let blocked = true;
    const { user, calls } = await open('links', {
      explainBlock: () =>
        data({
          success: true,
          blocked,
          by: blocked ? 'list' : null,
          class: blocked ? 'phishing' : null,
          detail: blocked ? 'phishing.txt, line 3' : '',
        }),
      decide: ({ action }) => {
        blocked = action === 'block';
        return data({ success: true, decision: 'd' });
      },
    });
    await expectNoAxeViolations();
    await search(user, 'evil.example');
    await shown('evil.example is blocked: Phishing.');
    screen.getByText(/By a blocklist\. phishing\.txt, line 3/);
    await user.click(screen.getByRole('button', { name: 'Unblock' }));
    await shown('evil.example is not blocked.');
    await user.click(screen.getByRole('button', { name: 'Block' }));
    const dialog = await screen.findByRole('dialog', {
      name: 'This blocks every link to evil.example and to what is below it, and refuses new ones. Block it?',
    });
    await user.click(within(dialog).getByRole('button', { name: 'Block' }));
    await shown('evil.example was blocked.');
    expect(decisionsIn(calls).map(({ action, class: name }) => [action, name])).toEqual([
      ['unblock', undefined],
      ['block', 'phishing'],
    ]);
  });

  it('shows a link that is found by its short URL', async () => {
    const { user, calls } = await open('links', {
      explainBlock: () =>
        data({ success: true, blocked: false, by: null, class: null, detail: '' }),
    });
    await search(user, `${location.origin}/code-001`);
    await shown('https://bad-1.example/log-in?user=1');
    expect(calls.filter(({ name }) => name === 'showReports').at(-1)?.payload['code']).toBe(
      'code-001',
    );
  });

  it('explains what can be entered if the server refuses it', async () => {
    const { user } = await open('links', {
      explainBlock: () => error(400, 'INVALID_ARGUMENT', {}, { reason: 'INVALID_ADDRESS' }),
    });
    await search(user, '???');
    await shown(/Enter a code, a short URL, a host or a path/);
  });
});

const ACCOUNT = {
  id: 'a1',
  email: 'ana@example.org',
  username: 'Ana',
  role: 'member',
  suspended: false,
  links: 214,
  created_at: TIME,
  last_seen_at: null,
};
const oneAccount = () => data({ success: true, accounts: [ACCOUNT], cursor: null });

describe('accounts', () => {
  const manage = async (handlers: Handlers) => {
    const opened = await open('accounts', { listAccounts: oneAccount, ...handlers });
    await opened.user.click(await shown('ana@example.org'));
    return opened;
  };

  it('finds accounts by their email', async () => {
    const { user, calls } = await open('accounts', { listAccounts: oneAccount });
    await user.type(screen.getByRole('searchbox', { name: 'Email' }), 'ana{Enter}');
    await waitFor(() =>
      expect(calls.filter(({ name }) => name === 'listAccounts').at(-1)?.payload).toEqual({
        token: 'a-token',
        query: 'ana',
        cursor: null,
      }),
    );
    expect(location.href).not.toContain('ana');
    await shown('214 links');
    await expectNoAxeViolations();
  });

  it('suspends an account after a question, and resumes it', async () => {
    const { user, calls } = await manage({
      changeAccount: ({ changes }) =>
        data({ success: true, account: { ...ACCOUNT, ...(changes as object) } }),
    });
    await user.click(screen.getByRole('button', { name: 'Suspend' }));
    const dialog = await screen.findByRole('dialog', { name: 'Suspend ana@example.org?' });
    await user.click(within(dialog).getByRole('button', { name: 'Suspend' }));
    await shown('ana@example.org is suspended.');
    screen.getByText('Suspended');
    await user.click(screen.getByRole('button', { name: 'Resume' }));
    await shown('ana@example.org can log in again.');
    expect(
      calls.filter(({ name }) => name === 'changeAccount').map((call) => call.payload),
    ).toEqual([
      { token: 'a-token', id: 'a1', changes: { suspended: true } },
      { token: 'a-token', id: 'a1', changes: { suspended: false } },
    ]);
  });

  it('says that the last administrator must stay', async () => {
    const { user } = await manage({
      changeAccount: () => data({ success: false, error: 'last administrator' }),
    });
    await user.click(screen.getByRole('button', { name: 'Make administrator' }));
    const dialog = await screen.findByRole('dialog');
    await user.click(within(dialog).getByRole('button', { name: 'Make administrator' }));
    await shown('This is the last administrator. Make somebody else one first.');
  });

  it('shows a password reset URL once, to copy', async () => {
    const { user } = await manage({
      createResetLink: () => data({ success: true, url: 'http://localhost/reset#code' }),
    });
    await user.click(screen.getByRole('button', { name: 'Password reset URL' }));
    await shown('http://localhost/reset#code');
    await user.click(screen.getByRole('button', { name: 'Copy URL' }));
    expect(await navigator.clipboard.readText()).toBe('http://localhost/reset#code');
    await user.click(screen.getByRole('button', { name: 'Done' }));
    expect(document.body).not.toHaveTextContent('reset#code');
  });

  it('blocks all links with a class, and ends sessions', async () => {
    const { user, calls } = await manage({
      blockAccountLinks: () => data({ success: true, blocked: 214 }),
      endAccountSessions: () => data({ success: true }),
    });
    await user.click(screen.getByRole('button', { name: 'Block links' }));
    const dialog = await screen.findByRole('dialog', {
      name: 'Block 214 links of ana@example.org?',
    });
    await user.selectOptions(within(dialog).getByRole('combobox', { name: 'Class' }), 'malware');
    await user.click(within(dialog).getByRole('button', { name: 'Block links' }));
    await shown('214 links were blocked.');
    await user.click(screen.getByRole('button', { name: 'End sessions' }));
    await shown('All sessions of ana@example.org were ended.');
    expect(calls.find(({ name }) => name === 'blockAccountLinks')?.payload).toEqual({
      token: 'a-token',
      id: 'a1',
      class: 'malware',
      comment: '',
    });
  });
});

describe('invitations', () => {
  it('are created, shown once and revoked', async () => {
    const invitations = [
      { id: 'i1', email: 'ana@example.org', role: 'member', created_at: TIME, expires_at: TIME },
    ];
    const { user, calls } = await open('accounts', {
      listAccounts: oneAccount,
      listInvitations: () => data({ success: true, invitations }),
      createInvitation: () =>
        data({ success: true, id: 'i2', url: 'http://localhost/register#invitation=x' }),
      revokeInvitation: () => {
        invitations.pop();
        return data({ success: true });
      },
    });
    await shown('ana@example.org');
    expect(calls.map(({ name }) => name)).not.toContain('listInvitations');
    await user.click(screen.getByText('Invitations'));
    await screen.findByRole('list', { name: 'Open invitations' });
    await expectNoAxeViolations();
    await user.click(screen.getByRole('button', { name: 'Create invitation' }));
    await shown('http://localhost/register#invitation=x');
    expect(calls.find(({ name }) => name === 'createInvitation')?.payload).toEqual({
      token: 'a-token',
      email: null,
      role: 'member',
    });
    await user.click(
      screen.getByRole('button', { name: 'Revoke the invitation for ana@example.org' }),
    );
    await shown('No invitations are open.');
  });
});

describe('decisions', () => {
  const decisions = [
    {
      id: 'd3',
      at: TIME,
      action: 'invite',
      subject: 'i1',
      class: null,
      comment: 'administrator',
      by: 'operator',
    },
    {
      id: 'd2',
      at: TIME,
      action: 'suspend',
      subject: 'a1',
      class: null,
      comment: '',
      by: 'root@example.org',
    },
    {
      id: 'd1',
      at: TIME,
      action: 'block',
      subject: 'code-000',
      class: 'spam',
      comment: 'again',
      by: 'operator',
    },
  ];

  it('say who decided what, and lead to it', async () => {
    const { user } = await open('decisions', {
      listDecisions: () => data({ success: true, decisions, cursor: null }),
      explainBlock: () =>
        data({ success: true, blocked: false, by: null, class: null, detail: '' }),
    });
    await shown('By root@example.org');
    expect(screen.getAllByText('By the operator')).toHaveLength(2);
    // An invitation is in no list, and what it gives is a role.
    screen.getByText('Administrator');
    expect(screen.queryByRole('button', { name: 'i1' })).toBeNull();
    await expectNoAxeViolations();
    await user.click(screen.getByRole('button', { name: 'code-000' }));
    await shown('https://bad-0.example/log-in?user=1');
    expect(location.hash).toBe('#links');
  });

  it('are searched', async () => {
    const { user, calls } = await open('decisions', {
      listDecisions: () => data({ success: true, decisions: [], cursor: null }),
    });
    await user.type(screen.getByRole('searchbox', { name: 'Search' }), 'spam{Enter}');
    await shown('No decisions match.');
    expect(calls.filter(({ name }) => name === 'listDecisions').at(-1)?.payload['query']).toBe(
      'spam',
    );
  });
});

it('shows the state of the instance, with what is not known', async () => {
  await open('instance', {
    showInstance: () =>
      data({
        success: true,
        version: '1.0.0',
        links: 1204,
        accounts: null,
        visits: { today: 3, yesterday: 4 },
        storage_bytes: 12_400_000,
        backup_at: null,
        processes: [
          { name: 'links', ready: true },
          { name: 'auth', ready: false },
        ],
      }),
  });
  await shown('1,204');
  screen.getByText('13 MB');
  screen.getByText('None known');
  screen.getByText('Not ready');
  await expectNoAxeViolations();
});

describe('the entry of the menu', () => {
  const reply = (more: object) =>
    data({
      success: true,
      token: 'fresh',
      expirationTimestamp: Date.now() + 3_600_000,
      username: 'Marta',
      device: '',
      ...more,
    });
  const noLinks = () => data({ success: true, links: [], total: 0, cursor: null });

  it.each([
    [true, { administrator: true }],
    [false, {}],
  ])('is shown to administrators only: %s', async (isShown, more) => {
    serve({ verifyUser: () => reply(more), showLinks: noLinks });
    const { user } = visit('/login', { from: '/my-account' });
    await user.type(await screen.findByRole('textbox', { name: 'Email' }), 'marta@example.org');
    await user.type(screen.getByLabelText('Password'), 'Senderos-1');
    await user.click(screen.getByRole('button', { name: 'LOGIN' }));
    await heading('Your links');
    expect(screen.queryAllByRole('link', { name: 'Administration' })).toHaveLength(isShown ? 1 : 0);
    await user.click(screen.getByRole('button', { name: 'Log out' }));
    await act(() => settled());
    expect(localStorage.getItem('administrator')).toBeNull();
  });
});
