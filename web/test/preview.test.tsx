import { act, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { cache } from '../src/api/cache';
import { expectNoAxeViolations, heading, visit } from './app';
import { data, error, never, serve } from './server';

const HOST = 'xn--80ak6aa92e.com';
const known = {
  code: 'k7Qm2_xB',
  long_link: 'https://example.org/a?b=c#d',
  host: 'example.org',
  state: 'active',
  reason: null,
  created_at: '2026-11-02T10:00:00.000Z',
  changed_at: null,
  title: '',
  warnings: [],
};
// The cache must not contain data of another test's server.
afterEach(() => cache.clear());

/** Matches a host on its own, in the parts that it can be broken into. */
const hostShown = (host: string) =>
  screen.getByText((_, element) => element?.tagName === 'P' && element.textContent === host);
const answers = (preview: object | null) => () => data({ success: true, preview });

describe('the preview of a link', () => {
  it('shows the destination and its age, and goes there by the short URL', async () => {
    const calls = serve({ previewLink: answers(known) });
    visit('/k7Qm2_xB+');
    const title = await heading('Link preview');
    await screen.findByText('https://example.org/a?b=c#d');
    expect(hostShown('example.org')).toBeVisible();
    expect(title.parentElement).toHaveTextContent(
      /\/k7Qm2_xB was created on 2 Nov 2026\. Its destination has not been changed\./,
    );
    const go = screen.getByRole('link', { name: 'Go there' });
    expect(go).toHaveAttribute('href', '/k7Qm2_xB');
    expect(go).toHaveAttribute('rel', 'noreferrer');
    expect(screen.queryByRole('list', { name: 'Warnings' })).toBeNull();
    expect(calls).toEqual([{ name: 'previewLink', payload: { code: 'k7Qm2_xB' } }]);
    expect(document.title).toMatch(/^Preview of .*k7Qm2_xB · Atajo$/);
    await expectNoAxeViolations();
  });

  it('is dropped from the cache some time after the visitor left it', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    serve({ previewLink: answers(known) });
    const { user } = visit('/k7Qm2_xB+');
    await screen.findByText('https://example.org/a?b=c#d');
    await user.click(screen.getByRole('link', { name: 'HOME' }));
    await heading('Shorten, share and track your links');
    expect(cache.getQueryCache().getAll()).toHaveLength(1);
    act(() => void vi.advanceTimersByTime(10 * 60_000));
    expect(cache.getQueryCache().getAll()).toEqual([]);
  });

  it.each(['/k7Qm2_xB+', '/k7Qm2_xB%2B', '/k7Qm2_xB+?a=b#c'])('is shown at %s', async (path) => {
    const calls = serve({ previewLink: answers(known) });
    visit(path);
    await heading('Link preview');
    await waitFor(() => expect(calls[0]?.payload).toEqual({ code: 'k7Qm2_xB' }));
  });

  it('shows each warning, and when the destination changed', async () => {
    const preview = {
      ...known,
      long_link: `https://user@${HOST}:8443/login`,
      host: HOST,
      changed_at: '2026-11-20T10:00:00.000Z',
      title: 'My <title>',
      warnings: [
        'mixed script host',
        'look-alike host',
        'punycode host',
        'ip address host',
        'user info in address',
        'unusual port',
        'something of a later version',
      ],
    };
    serve({ previewLink: answers(preview) });
    visit('/k7Qm2_xB+');
    const list = await screen.findByRole('list', { name: 'Warnings' });
    const told = within(list)
      .getAllByRole('listitem')
      .map((item) => item.textContent);
    expect(told).toEqual([
      'The host name mixes letters of several alphabets.',
      'The host name only looks like аррӏе.com: some letters are from another alphabet.',
      'The host name has letters other than a to z. Browsers may display it as аррӏе.com.',
      'The host is an IP address. Nearly all sites use a name.',
      `The text before the @ is not the host. The link leads to ${HOST}.`,
      'The URL has an unusual port: 8443.',
    ]);
    expect(hostShown(HOST)).toBeVisible();
    expect(screen.getByText(/Its destination was changed on 20 Nov 2026/)).toHaveTextContent(
      'Title: “My <title>”',
    );
    await expectNoAxeViolations();
  });

  it.each([
    ['expired', null, 'This link has expired.'],
    ['removed', null, 'This link was removed by its owner.'],
  ])(
    'says that a link is %s, without its destination and a button to go there',
    async (state, reason, text) => {
      const { code, created_at, changed_at, warnings } = known;
      serve({ previewLink: answers({ code, state, reason, created_at, changed_at, warnings }) });
      visit('/k7Qm2_xB+');
      await heading(`Preview of ${state === 'expired' ? 'an' : 'a'} ${state} link`);
      expect(screen.getByText(text)).toBeVisible();
      expect(document.body).not.toHaveTextContent(known.host);
      expect(screen.queryByRole('link', { name: 'Go there' })).toBeNull();
      expect(document.body).toHaveTextContent('was created on 2 Nov 2026.');
      await expectNoAxeViolations();
    },
  );

  it('shows only the host of a blocked link, the reason and the contact', async () => {
    const meta = document.createElement('meta');
    meta.name = 'atajo-contact';
    meta.content = 'hello@atajo.example';
    document.head.append(meta);
    const { long_link, ...rest } = known;
    const blocked = { ...rest, title: undefined, state: 'blocked', reason: 'phishing' };
    serve({ previewLink: answers(blocked) });
    visit('/k7Qm2_xB+');
    await heading('Preview of a blocked link');
    expect(screen.getByText('This link was blocked: phishing.')).toBeVisible();
    expect(hostShown('example.org')).toBeVisible();
    expect(document.body).not.toHaveTextContent(long_link);
    expect(screen.getByRole('link', { name: 'hello@atajo.example' })).toBeVisible();
    expect(screen.queryByRole('link', { name: 'Go there' })).toBeNull();
    meta.remove();
  });

  it.each([
    ['/k7Qm2_xB+', 1],
    ['/abc+', 0],
    ['/no.code+', 0],
  ])('is not found at %s if no link exists', async (path, asked) => {
    const calls = serve({ previewLink: answers(null) });
    visit(path);
    await heading('PAGE NOT FOUND');
    expect(calls).toHaveLength(asked);
  });

  it('says that it did not load, and retries on a click', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    let fails = true;
    serve({ previewLink: () => (fails ? 'network error' : answers(known)()) });
    const { user } = visit('/k7Qm2_xB+');
    expect(await screen.findByRole('alert')).toHaveTextContent(
      'The preview did not load. Please try again.',
    );
    await expectNoAxeViolations();
    fails = false;
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    await screen.findByText(known.long_link);
  });

  it('says that it is loading', async () => {
    serve({ previewLink: never });
    visit('/k7Qm2_xB+');
    await screen.findByRole('img', { name: 'Loading the preview' });
  });
});

describe('a report', () => {
  const open = async (reportLink: Parameters<typeof serve>[0][string]) => {
    const calls = serve({ previewLink: answers(known), reportLink }, 'reportLink');
    const { user } = visit('/k7Qm2_xB+');
    await user.click(await screen.findByRole('button', { name: 'REPORT' }));
    const dialog = within(screen.getByRole('dialog', { name: 'Report this link' }));
    const send = () => user.click(dialog.getByRole('button', { name: 'Send report' }));
    return { calls, user, dialog, send };
  };

  it('is sent to the operator with the entered data', async () => {
    const { calls, user, dialog, send } = await open(() => data({ success: true, report: 'r1' }));
    await expectNoAxeViolations();
    await user.click(dialog.getByRole('radio', { name: 'Malware' }));
    await user.type(dialog.getByLabelText('Details (optional)'), 'A false shop');
    await user.type(
      dialog.getByLabelText('Your email, for questions (optional)'),
      ' me@example.org ',
    );
    await send();
    expect(
      await screen.findByText('Thank you. Your report was sent to the operator of this site.'),
    ).toBeVisible();
    expect(calls.map(({ payload }) => payload)).toEqual([
      {
        code: 'k7Qm2_xB',
        reason: 'malware',
        details: 'A false shop',
        contact: 'me@example.org',
      },
    ]);
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(screen.getByRole('button', { name: 'REPORT' })).toHaveFocus();
  });

  it('needs only a reason', async () => {
    const { calls, user, dialog, send } = await open(() => data({ success: true, report: 'r1' }));
    await send();
    expect(await dialog.findByText('Choose a reason.')).toBeVisible();
    expect(calls).toEqual([]);
    await user.click(dialog.getByRole('radio', { name: 'Other' }));
    await send();
    await waitFor(() =>
      expect(calls[0]?.payload).toEqual({
        code: 'k7Qm2_xB',
        reason: 'other',
        details: '',
        contact: null,
      }),
    );
  });

  it('is not sent if it is too long or the email is invalid', async () => {
    const { calls, user, dialog, send } = await open(never);
    await user.click(dialog.getByRole('radio', { name: 'Spam' }));
    const details = dialog.getByLabelText('Details (optional)');
    await user.click(details);
    await user.paste('😀'.repeat(1001));
    await send();
    expect(await dialog.findByText('Enter at most 1,000 characters.')).toBeVisible();
    expect(details).toBeInvalid();
    await user.clear(details);
    await user.paste('😀'.repeat(1000));
    await user.type(dialog.getByRole('textbox', { name: /Your email/ }), 'nobody');
    await send();
    expect(await dialog.findByText('Please enter a valid email')).toBeVisible();
    expect(calls).toEqual([]);
    await user.clear(dialog.getByRole('textbox', { name: /Your email/ }));
    await send();
    await waitFor(() => expect(calls).toHaveLength(1));
  });

  it.each([
    ['the link is gone', data({ success: false, error: 'no exist' }), /no longer exists/],
    [
      'too many were sent',
      error(429, 'RESOURCE_EXHAUSTED', { 'retry-after': '1800' }),
      'Too many reports were sent from your network. Please try again in 30 minutes.',
    ],
    [
      'the server refuses the email',
      error(400, 'INVALID_ARGUMENT', {}, { reason: 'INVALID_CONTACT' }),
      'Please enter a valid email',
    ],
    ['the server fails', error(503, 'UNAVAILABLE'), /not sent. Please try again/],
    ['the network fails', 'network error' as const, /not sent. Please try again/],
  ])('says so if %s, and keeps the entered data', async (_name, answer, text) => {
    vi.spyOn(console, 'error').mockReturnValue();
    const { user, dialog, send } = await open(() => answer);
    await user.click(dialog.getByRole('radio', { name: 'Phishing' }));
    await user.type(dialog.getByLabelText('Details (optional)'), 'A false bank');
    await send();
    expect(await dialog.findByText(text)).toBeVisible();
    expect(dialog.getByLabelText('Details (optional)')).toHaveValue('A false bank');
    await expectNoAxeViolations();
  });

  it('is canceled by Escape', async () => {
    const { user, calls } = await open(never);
    screen.getByRole('dialog').dispatchEvent(new Event('cancel', { cancelable: true }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(calls).toEqual([]);
    await user.tab();
  });
});
