import { act, screen, waitFor } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import shortUrls from '../../tests/shared/short_url_cases.json';
import { cache } from '../src/api/cache';
import { addressedCode } from '../src/lib/codes';
import { expectNoAxeViolations, heading, visit } from './app';
import { data, never, serve } from './server';

const leaveFor = vi.hoisted(() => vi.fn());
vi.mock('../src/features/redirect/leave', async (original) => ({
  ...(await original<object>()),
  leaveFor,
}));
afterEach(() => {
  leaveFor.mockReset();
  cache.clear();
});

const atKnown = (path: string) => path.replace('{code}', shortUrls.code);

function addressedBy(path: string): string | null {
  try {
    return addressedCode(decodeURIComponent(atKnown(path).replace(/\?.*$/s, '').slice(1)));
  } catch {
    return null; // It is not UTF-8.
  }
}

describe('the code of a short URL', () => {
  it.each(shortUrls.followed)('is in %j', (path) => {
    expect(addressedBy(path)).toBe(shortUrls.code);
  });

  it.each(shortUrls.not_followed)('is not in %j', (path) => {
    expect(addressedBy(path)).toBeNull();
  });
});

describe('a short URL that reached the page', () => {
  it.each(shortUrls.followed)('resolves only the code of %j', async (path) => {
    const calls = serve({
      accessLink: () => data({ success: true, longUrl: [{ long_link: 'https://example.org/x' }] }),
    });
    visit(atKnown(path));
    await waitFor(() => expect(leaveFor).toHaveBeenCalledWith('https://example.org/x'));
    expect(calls).toEqual([{ name: 'accessLink', payload: { code: shortUrls.code } }]);
  });

  it.each(['/k7Qm2_xB.x', '/k7Qm2_xB/x', '/k7Qm2_xB&a=b'])('finds nothing at %s', async (path) => {
    const calls = serve({ accessLink: () => data({ success: true, longUrl: [] }) });
    visit(path);
    await heading('PAGE NOT FOUND');
    expect(calls.filter(({ payload }) => payload['code'] === shortUrls.code)).toEqual([]);
  });

  it('shows the preview of only the code', async () => {
    const calls = serve({ previewLink: () => data({ success: true, preview: null }) });
    visit('/k7Qm2_xB.+');
    await heading('PAGE NOT FOUND');
    expect(calls).toEqual([]);
  });

  it('resolves the code once and goes to the destination', async () => {
    const calls = serve({
      accessLink: () => data({ success: true, longUrl: [{ long_link: 'https://example.org/x' }] }),
    });
    visit('/k7Qm2_xB');
    await heading('Redirecting...');
    await waitFor(() => expect(leaveFor).toHaveBeenCalledWith('https://example.org/x'));
    expect(calls).toEqual([{ name: 'accessLink', payload: { code: 'k7Qm2_xB' } }]);
    await expectNoAxeViolations();
  });

  it.each([
    ['expired', null, 'This link has expired.'],
    ['removed', null, 'This link was removed by its owner.'],
    ['blocked', 'phishing', 'This link was blocked: phishing.'],
  ])('says that a link is %s', async (state, reason, message) => {
    serve({
      accessLink: () => data({ success: true, longUrl: [], state, ...(reason && { reason }) }),
    });
    const { user } = visit('/k7Qm2_xB');
    const title = await heading(message);
    await waitFor(() => expect(title).toHaveFocus());
    expect(document.title).toBe(`${message.slice(0, -1)} · Atajo`);
    expect(location.pathname).toBe('/k7Qm2_xB');
    expect(leaveFor).not.toHaveBeenCalled();
    await expectNoAxeViolations();
    await user.click(screen.getByRole('link', { name: 'GO HOME' }));
    await heading('Shorten, share and track your links');
  });

  it.each([
    ['expired', null],
    ['removed', null],
    ['blocked', 'phishing'],
  ])('links to the preview of a link that is %s', async (state, reason) => {
    const over = { state, ...(reason && { reason }) };
    const calls = serve({
      accessLink: () => data({ success: true, longUrl: [], ...over }),
      previewLink: () =>
        data({
          success: true,
          preview: {
            code: 'k7Qm2_xB',
            ...(!reason && { long_link: 'https://example.org/led-here' }),
            host: 'example.org',
            state,
            reason,
            created_at: '2026-11-02T10:00:00.000Z',
            changed_at: null,
            title: '',
            warnings: [],
          },
        }),
    });
    const { user } = visit('/k7Qm2_xB');
    await user.click(await screen.findByRole('link', { name: 'Show link preview' }));
    const title = await heading(`Preview of ${state === 'expired' ? 'an' : 'a'} ${state} link`);
    expect(location.pathname).toBe('/k7Qm2_xB+');
    await waitFor(() => expect(title.parentElement).toHaveTextContent('example.org'));
    expect(screen.queryByRole('link', { name: 'Go there' })).toBeNull();
    expect(calls.map(({ name }) => name)).toEqual(['accessLink', 'previewLink']);
    expect(calls[1]?.payload).toEqual({ code: 'k7Qm2_xB' });
    expect(leaveFor).not.toHaveBeenCalled();
  });

  it('shows the contact of the operator who blocked a link', async () => {
    const meta = document.createElement('meta');
    meta.name = 'atajo-contact';
    meta.content = 'hello@atajo.example';
    document.head.append(meta);
    serve({
      accessLink: () => data({ success: true, longUrl: [], state: 'blocked', reason: 'spam' }),
    });
    visit('/k7Qm2_xB');
    await heading('This link was blocked: spam.');
    expect(screen.getByRole('link', { name: 'hello@atajo.example' })).toHaveAttribute(
      'href',
      'mailto:hello@atajo.example',
    );
    meta.remove();
  });

  it('goes to the destination after expiry', async () => {
    serve({
      accessLink: () =>
        data({
          success: true,
          longUrl: [{ long_link: 'https://example.org/after' }],
          state: 'expired',
        }),
    });
    visit('/k7Qm2_xB');
    await waitFor(() => expect(leaveFor).toHaveBeenCalledWith('https://example.org/after'));
  });

  it('goes to /not-found when nothing is stored', async () => {
    serve({ accessLink: () => data({ success: true, longUrl: [] }) });
    visit('/k7Qm2_xB');
    await heading('PAGE NOT FOUND');
    expect(location.pathname).toBe('/not-found');
  });

  it.each([
    ['the call fails', 'network error' as const],
    ['the reply has another shape', data({ success: true })],
    [
      'the stored URL is not a web URL',
      data({ success: true, longUrl: [{ long_link: 'javascript:alert(1)' }] }),
    ],
  ])('goes to the home page when %s', async (_name, answer) => {
    vi.spyOn(console, 'error').mockReturnValue();
    serve({ accessLink: () => answer });
    visit('/k7Qm2_xB');
    await heading('Shorten, share and track your links');
    expect(location.pathname).toBe('/');
    expect(leaveFor).not.toHaveBeenCalled();
  });

  it('also resolves a text that is not a valid code', async () => {
    const calls = serve({ accessLink: () => data({ success: true, longUrl: [] }) });
    visit('/favicon.png');
    await heading('PAGE NOT FOUND');
    expect(calls[0]?.payload).toEqual({ code: 'favicon.png' });
  });

  it('is case-sensitive: /Register is a code, /register a page', async () => {
    const calls = serve({ accessLink: never });
    visit('/Register');
    await heading('Redirecting...');
    await waitFor(() => expect(calls[0]?.payload).toEqual({ code: 'Register' }));
  });

  it('shows a link to the home page after 2 s', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    serve({ accessLink: never });
    visit('/k7Qm2_xB');
    await heading('Redirecting...');
    expect(screen.queryByRole('link', { name: 'Go to the home page' })).toBeNull();
    await act(() => vi.advanceTimersByTimeAsync(2_000));
    expect(screen.getByRole('link', { name: 'Go to the home page' })).toHaveAttribute('href', '/');
  });
});

describe('the not-found page', () => {
  it.each(['/not-found', '/some/deep/path'])('%s says so', async (path) => {
    const { user } = visit(path);
    await heading('PAGE NOT FOUND');
    await expectNoAxeViolations();
    await user.click(screen.getByRole('link', { name: 'GO HOME' }));
    await heading('Shorten, share and track your links');
  });
});
