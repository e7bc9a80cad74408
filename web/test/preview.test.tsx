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
// One browser knows for some seconds what another test's server said.
afterEach(() => cache.clear());

/** A host by itself, in the parts that it may be broken into. */
const hostShown = (host: string) =>
  screen.getByText((_, element) => element?.tagName === 'P' && element.textContent === host);
const answers = (preview: object | null) => () => data({ success: true, preview });

describe('the preview of a link', () => {
  it('says where it leads and since when, and goes there by the short address', async () => {
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

  it('is forgotten a while after one looked at it', async () => {
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

  it.each(['/k7Qm2_xB+', '/k7Qm2_xB%2B', '/k7Qm2_xB+?a=b#c'])('stands under %s', async (path) => {
    const calls = serve({ previewLink: answers(known) });
    visit(path);
    await heading('Link preview');
    await waitFor(() => expect(calls[0]?.payload).toEqual({ code: 'k7Qm2_xB' }));
  });

  it('tells each thing to be careful about, and when the address changed', async () => {
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
  ])('says where a link led that is %s, and there is no way there', async (state, reason, text) => {
    serve({ previewLink: answers({ ...known, state, reason }) });
    visit('/k7Qm2_xB+');
    await heading(`Preview of ${state === 'expired' ? 'an' : 'a'} ${state} link`);
    expect(screen.getByText(text)).toBeVisible();
    expect(screen.getByText(known.long_link)).toBeVisible();
    expect(screen.queryByRole('link', { name: 'Go there' })).toBeNull();
    expect(document.body).toHaveTextContent('was created on 2 Nov 2026.');
    await expectNoAxeViolations();
  });

  it('names the host alone of a blocked link, why, and whom to ask', async () => {
    const meta = document.createElement('meta');
    meta.name = 'atajo-contact';
    meta.content = 'hello@atajo.example';
    document.head.append(meta);
    const { long_link, ...rest } = known;
    serve({ previewLink: answers({ ...rest, state: 'blocked', reason: 'phishing' }) });
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
  ])('is not found at %s where there never was a link', async (path, asked) => {
    const calls = serve({ previewLink: answers(null) });
    visit(path);
    await heading('PAGE NOT FOUND');
    expect(calls).toHaveLength(asked);
  });

  it('says that it could not be looked up, and tries again at a click', async () => {
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

  it('says that it is looked up', async () => {
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

  it('goes to the operator with what was filled in', async () => {
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

  it('needs a class alone', async () => {
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

  it('is refused here where it is too long or the email is none', async () => {
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
      'the server does not take the email',
      error(400, 'INVALID_ARGUMENT', {}, { reason: 'INVALID_CONTACT' }),
      'Please enter a valid email',
    ],
    ['the server fails', error(503, 'UNAVAILABLE'), /not sent. Please try again/],
    ['nobody answers', 'network error' as const, /not sent. Please try again/],
  ])('says so where %s, and keeps what was filled in', async (_name, answer, text) => {
    vi.spyOn(console, 'error').mockReturnValue();
    const { user, dialog, send } = await open(() => answer);
    await user.click(dialog.getByRole('radio', { name: 'Phishing' }));
    await user.type(dialog.getByLabelText('Details (optional)'), 'A false bank');
    await send();
    expect(await dialog.findByText(text)).toBeVisible();
    expect(dialog.getByLabelText('Details (optional)')).toHaveValue('A false bank');
    await expectNoAxeViolations();
  });

  it('is given up by Escape', async () => {
    const { user, calls } = await open(never);
    screen.getByRole('dialog').dispatchEvent(new Event('cancel', { cancelable: true }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(calls).toEqual([]);
    await user.tab();
  });
});
