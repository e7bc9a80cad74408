/** Further domains of an instance: chosen, shown, copied and drawn as QR codes. */
import { screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Link } from '../src/api';
import { codeInShortUrl } from '../src/lib/shortUrls';
import { expectNoAxeViolations, heading, logIn, visit } from './app';
import { changed, details, link, page } from './links';
import { data, error, serve, type Call } from './server';

const CODE = 'fiesta-2026';
const LONG = 'https://ayuntamiento.example/otro.pdf';
const FIESTA = link(CODE, LONG, { domain: 'go.example' });
const settings = {
  'atajo-public-url': 'https://atajo.example',
  'atajo-domains': 'https://go.example http://other.example:8443',
};
const DOMAINS = ['atajo.example', 'go.example', 'other.example:8443'];

const setting = (name: string) => document.querySelector(`meta[name="${name}"]`);
const domain = () => screen.findByRole<HTMLSelectElement>('combobox', { name: 'Domain' });
const button = (name: string | RegExp) => screen.getByRole('button', { name });
const shortens = ({ code }: Call['payload']) => data({ success: true, code, short_link: code });
const named = (calls: Call[], name: string) => calls.filter((call) => call.name === name);

beforeEach(() => {
  for (const [name, content] of Object.entries(settings)) {
    document.head.append(Object.assign(document.createElement('meta'), { name, content }));
  }
});
afterEach(() => {
  for (const name of Object.keys(settings)) setting(name)?.remove();
});

describe('the domain of a new link', () => {
  const open = async (handlers: Parameters<typeof serve>[0] = {}) => {
    const calls = serve({ createShortLink: shortens, showLinks: () => page([]), ...handlers });
    const { user } = visit('/short-link');
    await user.click(await screen.findByText('Customize'));
    return { user, calls };
  };
  const shorten = async (user: Awaited<ReturnType<typeof open>>['user']) => {
    await user.type(screen.getByRole('textbox', { name: /link/i }), `${LONG}{Enter}`);
  };

  it('is chosen in Customize, and shown and copied', async () => {
    logIn();
    const { user, calls } = await open();
    const options = Array.from((await domain()).options, ({ value }) => value);
    expect(options).toEqual(DOMAINS);
    expect(await domain()).toHaveValue('atajo.example');
    await expectNoAxeViolations();
    await user.selectOptions(await domain(), 'go.example');
    await shorten(user);
    await waitFor(() => expect(named(calls, 'createShortLink')).toHaveLength(1));
    const { payload } = named(calls, 'createShortLink')[0] as Call;
    expect(payload['domain']).toBe('go.example');
    const plate = await screen.findByRole('button', { name: /^go\.example\// });
    await user.click(plate);
    await waitFor(async () =>
      expect(await navigator.clipboard.readText()).toBe(
        `https://go.example/${String(payload['code'])}`,
      ),
    );
  });

  it('is sent only if it was chosen', async () => {
    logIn();
    const { user, calls } = await open();
    await domain();
    await shorten(user);
    await waitFor(() => expect(named(calls, 'createShortLink')).toHaveLength(1));
    expect(named(calls, 'createShortLink')[0]?.payload).not.toHaveProperty('domain');
    await screen.findByRole('button', { name: /^atajo\.example\// });
  });

  it('is not offered to guests, nor where there is one domain', async () => {
    const { user } = await open();
    await screen.findByRole('group', { name: 'Campaign tags' });
    expect(screen.queryByRole('combobox', { name: 'Domain' })).toBeNull();
    await shorten(user);
    await screen.findByRole('button', { name: /^atajo\.example\// });
  });

  it('says at its field that it is no longer listed, and keeps the link', async () => {
    logIn();
    const { user, calls } = await open({
      createShortLink: ({ domain: chosen, ...payload }) =>
        chosen === 'go.example'
          ? error(400, 'INVALID_ARGUMENT', {}, { reason: 'INVALID_DOMAIN' })
          : shortens(payload),
    });
    await user.selectOptions(await domain(), 'go.example');
    await shorten(user);
    await waitFor(async () => expect(await domain()).toHaveFocus());
    expect(await domain()).toHaveAccessibleDescription(
      'This domain is no longer offered. Choose another one.',
    );
    const field = screen.getByRole('textbox', { name: /link/i });
    expect(field).toHaveValue(LONG);
    expect(field).not.toHaveAttribute('aria-invalid');
    await expectNoAxeViolations();
    await user.selectOptions(await domain(), 'other.example:8443');
    expect(await domain()).toHaveAccessibleDescription('');
    await user.type(field, '{Enter}');
    await screen.findByRole('button', { name: /^other\.example:8443\// });
    expect(named(calls, 'createShortLink')).toHaveLength(2);
  });

  it('is refused as a destination', async () => {
    logIn();
    const { user, calls } = await open();
    await user.type(
      screen.getByRole('textbox', { name: /link/i }),
      'http://other.example:8443/abcdefgh{Enter}',
    );
    await screen.findByText('Enter a valid URL');
    expect(calls).toEqual([]);
  });
});

describe('the domain of a link', () => {
  const open = async (shown: Link = FIESTA) => {
    logIn();
    const calls = serve({
      showLink: () => details(shown),
      changeLink: ({ changes }) => changed({ ...shown, ...(changes as Partial<Link>) }),
    });
    const { user } = visit(`/links/${CODE}`);
    await screen.findByText('Destination');
    return { user, calls };
  };

  it('is shown and copied, and can be changed', async () => {
    const { user, calls } = await open();
    await heading(`go.example/${CODE}`);
    await waitFor(() => expect(document.title).toBe(`go.example/${CODE} · Atajo`));
    await user.click(button('Copy'));
    await waitFor(async () =>
      expect(await navigator.clipboard.readText()).toBe(`https://go.example/${CODE}`),
    );
    await user.click(button('Change the domain'));
    expect(await domain()).toHaveFocus();
    await expectNoAxeViolations();
    await user.selectOptions(await domain(), 'other.example:8443');
    await user.click(button('Save'));
    await heading(`other.example:8443/${CODE}`);
    expect(named(calls, 'changeLink')[0]?.payload['changes']).toEqual({
      domain: 'other.example:8443',
    });
  });

  it('is that of the public URL if it is no longer listed', async () => {
    await open(link(CODE, LONG, { domain: 'gone.example' }));
    await heading(`atajo.example/${CODE}`);
  });

  it('cannot be changed where there is one domain', async () => {
    setting('atajo-domains')?.setAttribute('content', '');
    await open();
    expect(screen.queryByRole('button', { name: 'Change the domain' })).toBeNull();
  });

  it('is that of its row in the list, and of its scan code', async () => {
    logIn();
    serve({ showLinks: () => page([FIESTA]) });
    const { user } = visit('/my-account');
    await user.click(await screen.findByRole('button', { name: `Copy go.example/${CODE}` }));
    await waitFor(async () =>
      expect(await navigator.clipboard.readText()).toBe(`https://go.example/${CODE}`),
    );
  });
});

describe('a short URL of any domain', () => {
  it.each([
    [`go.example/${CODE}`, CODE],
    [`https://GO.example/${CODE}.`, CODE],
    [`http://other.example:8443/${CODE}`, CODE],
    [`https://atajo.example/${CODE}`, CODE],
    [`https://other.example/${CODE}`, null],
    ['https://go.example/login', null],
    [CODE, null],
  ])('has a code: %s', (text, code) => {
    expect(codeInShortUrl(text)).toBe(code);
  });

  it('finds its link in the list', async () => {
    logIn();
    const calls = serve({ showLinks: () => page([FIESTA]) });
    visit(`/my-account?search=${encodeURIComponent(`https://go.example/${CODE}`)}`);
    await screen.findByRole('button', { name: `Copy go.example/${CODE}` });
    expect(screen.getByRole('searchbox')).toHaveValue(`https://go.example/${CODE}`);
    expect(named(calls, 'showLinks')[0]?.payload).toMatchObject({ query: CODE });
  });
});

describe('the QR code of a link at a further domain', () => {
  it('contains its scan code at that domain, in upper case', async () => {
    logIn();
    serve({ createScanCode: () => data({ success: true, scan_code: 'AB12-CD3' }) });
    visit('/custom-qr-generator', { url: `https://go.example/${CODE}` });
    await screen.findByText(/^Uses a scan code/);
    expect(screen.getByRole('textbox', { name: 'URL' })).toHaveValue('HTTPS://GO.EXAMPLE/AB12-CD3');
  });
});
