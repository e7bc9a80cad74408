/** Scan codes: second codes of a user's own links, which their QR codes contain. */
import { screen, waitFor, within } from '@testing-library/react';
import { renderToStaticMarkup } from 'react-dom/server';
import { QRCodeSVG } from 'qrcode.react';
import { createElement } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { modulesOf } from '../src/features/qr/modules';
import { symbolFor } from '../src/features/qr/symbol';
import { expectNoAxeViolations, heading, logIn, visit } from './app';
import { details, link, page } from './links';
import { data, error, serve, type Call, type Reply } from './server';

const GUEST = `${'k'.repeat(42)}A`;
const SCAN = 'AB12-CD3';
const PRINTED = 'Printed codes of this link will stop working.';
const LINKS = ['k7Qm2_xB', 'Zt0-aaQ9', 'w1thout0'].map((code) =>
  link(code, `https://example.org/${code}`),
);
const [PLAIN] = LINKS.slice(2);
const SCANNED = LINKS.map((one) => (one === PLAIN ? one : { ...one, scan_code: SCAN }));

const made = () => data({ success: true, scan_code: SCAN });
const refused = (problem: string) => data({ success: false, error: problem });
const removed = ({ codes }: Record<string, unknown>) => data({ success: true, removed: codes });
const named = (calls: Call[], name: string) => calls.filter((call) => call.name === name);
const button = (name: string | RegExp) => screen.getByRole('button', { name });
const dialog = () => screen.findByRole('dialog');
const url = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'URL' });

/** Sets the public URL of the product to an origin of typical length. */
function standAt(origin: string) {
  const meta = document.createElement('meta');
  meta.name = 'atajo-public-url';
  meta.content = origin;
  document.head.append(meta);
}

beforeEach(() => {
  vi.stubGlobal(
    'Worker',
    class extends EventTarget {
      postMessage() {}
      terminate() {}
    },
  );
});
afterEach(() => {
  document.querySelector('meta[name="atajo-public-url"]')?.remove();
  vi.unstubAllGlobals();
});

describe('the QR code of a link', () => {
  const open = async (answer: (payload: Record<string, unknown>) => Reply | Promise<Reply>) => {
    standAt('https://a.es');
    const calls = serve({ createScanCode: answer });
    const { user } = visit('/custom-qr-generator', { url: 'https://a.es/k7Qm2_xB' });
    await heading('CUSTOM QR CODE GENERATOR');
    return { user, calls };
  };

  it('contains the scan code, which is requested once, and shows how much smaller it is', async () => {
    logIn('my-token');
    const { calls } = await open(made);
    await screen.findByText('Uses a scan code: 21 × 21 modules instead of 25 × 25.');
    expect(url()).toHaveValue('HTTPS://A.ES/AB12-CD3');
    expect(calls).toEqual([
      { name: 'createScanCode', payload: { token: 'my-token', guest: null, code: 'k7Qm2_xB' } },
    ]);
    await screen.findByRole('img', { name: 'QR code of HTTPS://A.ES/AB12-CD3' });
    await expectNoAxeViolations();
  });

  it('is smaller in upper case with both encoders', () => {
    const text = 'HTTPS://A.ES/AB12-CD3';
    expect(modulesOf(text, symbolFor(text, false))).toHaveLength(21);
    expect(modulesOf(text.toLowerCase(), symbolFor(text.toLowerCase(), false))).toHaveLength(25);
    const svg = renderToStaticMarkup(createElement(QRCodeSVG, { value: text, level: 'L' }));
    expect(svg).toContain('viewBox="0 0 21 21"');
  });

  it('has the same size for some URLs, with better error correction', async () => {
    logIn();
    serve({ createScanCode: made });
    visit('/custom-qr-generator', { url: 'http://localhost:3000/k7Qm2_xB' });
    await screen.findByText(
      'Uses a scan code: 25 × 25 modules, with error correction M instead of L.',
    );
    expect(url()).toHaveValue(`HTTP://LOCALHOST:3000/${SCAN}`);
  });

  it('contains the short URL while the request is in flight, and keeps text typed meanwhile', async () => {
    logIn();
    let answer: (reply: Reply) => void = () => undefined;
    const { user } = await open(() => new Promise((resolve) => (answer = resolve)));
    expect(url()).toHaveValue('https://a.es/k7Qm2_xB');
    await screen.findByText('Creating a scan code');
    await waitFor(() => expect(answer).toHaveLength(1));
    await user.type(url(), '?a');
    answer(made());
    await waitFor(() => expect(screen.queryByText('Creating a scan code')).toBeNull());
    expect(url()).toHaveValue('https://a.es/k7Qm2_xB?a');
    expect(screen.queryByText(/^Uses a scan code/)).toBeNull();
  });

  it('contains the short URL if the request fails, and retries on a click', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    logIn();
    let down = true;
    const { user } = await open(() => (down ? error(503, 'UNAVAILABLE') : made()));
    await screen.findByText('The scan code was not created. This QR code contains the short URL.');
    expect(url()).toHaveValue('https://a.es/k7Qm2_xB');
    await expectNoAxeViolations();
    down = false;
    await user.click(button('Try again'));
    await screen.findByText('Uses a scan code: 21 × 21 modules instead of 25 × 25.');
    expect(url()).toHaveValue('HTTPS://A.ES/AB12-CD3');
  });

  it('also requests the scan code as a guest if the account has no such link', async () => {
    logIn();
    localStorage.setItem('guestKey', GUEST);
    const { calls } = await open(({ guest }) => (guest ? made() : refused('no exist')));
    await screen.findByText(/^Uses a scan code/);
    expect(named(calls, 'createScanCode').map(({ payload }) => payload['guest'])).toEqual([
      null,
      GUEST,
    ]);
  });

  it('contains the short URL for a link of another owner', async () => {
    logIn();
    await open(() => refused('no exist'));
    await waitFor(() => expect(screen.queryByText('Creating a scan code')).toBeNull());
    expect(url()).toHaveValue('https://a.es/k7Qm2_xB');
    expect(screen.queryByText(/scan code/i)).toBeNull();
  });

  it.each([
    ['an anonymous visitor', 'https://a.es/k7Qm2_xB', false],
    ['another site', 'https://b.es/k7Qm2_xB', true],
  ])('of %s requests none', async (_whose, address, isLoggedIn) => {
    if (isLoggedIn) logIn();
    standAt('https://a.es');
    const calls = serve({ createScanCode: made });
    visit('/custom-qr-generator', { url: address });
    await screen.findByRole('img', { name: `QR code of ${address}` });
    expect(calls).toEqual([]);
  });
});

describe('the page of a link with a scan code', () => {
  const open = async (one = SCANNED[0]) => {
    logIn();
    if (!one) throw new Error('There is no link');
    const calls = serve({ showLink: () => details(one), removeLinks: removed });
    const { user } = visit(`/links/${one.code}`);
    await screen.findByText('Destination');
    return { user, calls };
  };

  it('shows the URL of the scan code, and copies it with its scheme', async () => {
    const { user } = await open();
    const fact = screen.getByText('Scan code', { selector: 'dt' }).nextElementSibling;
    expect(fact).toHaveTextContent(`LOCALHOST:3000/${SCAN}`);
    await expectNoAxeViolations();
    await user.click(button('Copy the scan code'));
    expect(await navigator.clipboard.readText()).toBe(`HTTP://LOCALHOST:3000/${SCAN}`);
  });

  it('asks for confirmation before the link is removed', async () => {
    const { user, calls } = await open();
    await user.click(button('Remove'));
    const question = within(await dialog());
    question.getByText(PRINTED);
    await expectNoAxeViolations();
    await user.click(question.getByRole('button', { name: 'Cancel' }));
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(button('Remove')).toHaveFocus();
    expect(named(calls, 'removeLinks')).toEqual([]);
    await user.click(button('Remove'));
    await user.click(within(await dialog()).getByRole('button', { name: 'Remove' }));
    await screen.findByText(/^You removed this link/);
    await waitFor(() => expect(named(calls, 'removeLinks')).toHaveLength(1));
  });

  it('removes a link without a scan code at once', async () => {
    const { user } = await open(PLAIN);
    expect(screen.queryByText('Scan code')).toBeNull();
    await user.click(button('Remove'));
    await screen.findByText(/^You removed this link/);
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  it('knows a scan code that was just created', async () => {
    logIn();
    serve({ showLink: () => details(LINKS[0] ?? link('x', 'x')), createScanCode: made });
    const { user } = visit('/links/k7Qm2_xB');
    await screen.findByText('Destination');
    await user.click(button('QR code'));
    await screen.findByText(/^Uses a scan code: /);
    history.back();
    await screen.findByText('Destination');
    await user.click(button('Remove'));
    within(await dialog()).getByText(PRINTED);
  });
});

describe('in the list of an account', () => {
  const open = async () => {
    logIn();
    const calls = serve({ showLinks: () => page(SCANNED), removeLinks: removed });
    const { user } = visit('/my-account');
    await screen.findByRole('table', { name: 'Your links' });
    return { user, calls };
  };
  const codesOf = (calls: Call[]) =>
    named(calls, 'removeLinks').map(({ payload }) => payload['codes']);
  const removeInMenu = async (user: Awaited<ReturnType<typeof open>>['user'], code: string) => {
    await user.click(button(`More actions for localhost:3000/${code}`));
    await user.click(screen.getByRole('menuitem', { name: 'Remove' }));
  };

  it('removes a link with a scan code after a confirmation', async () => {
    const { user, calls } = await open();
    await removeInMenu(user, 'k7Qm2_xB');
    within(await dialog()).getByText(PRINTED);
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(calls.some(({ name }) => name === 'removeLinks')).toBe(false);
    await removeInMenu(user, 'k7Qm2_xB');
    await user.click(within(await dialog()).getByRole('button', { name: 'Remove' }));
    await waitFor(() => expect(codesOf(calls)).toEqual([['k7Qm2_xB']]));
    await waitFor(() => expect(button('Undo localhost:3000/k7Qm2_xB')).toHaveFocus());
  });

  it('removes a link without a scan code at once', async () => {
    const { user, calls } = await open();
    await removeInMenu(user, 'w1thout0');
    await waitFor(() => expect(codesOf(calls)).toEqual([['w1thout0']]));
  });

  it.each([
    [['k7Qm2_xB', 'w1thout0'], 'Printed codes of 1 of these links will stop working.'],
    [['k7Qm2_xB', 'Zt0-aaQ9'], 'Printed codes of these links will stop working.'],
    [['Zt0-aaQ9'], PRINTED],
  ])('asks for one confirmation for several links: %s', async (codes, words) => {
    const { user, calls } = await open();
    for (const code of codes) {
      await user.click(screen.getByRole('checkbox', { name: `Select localhost:3000/${code}` }));
    }
    await user.click(
      within(screen.getByRole('group', { name: 'Selected links' })).getByRole('button', {
        name: 'Remove',
      }),
    );
    const question = within(await dialog());
    question.getByText(words);
    await user.click(question.getByRole('button', { name: 'Remove' }));
    await waitFor(() => expect(codesOf(calls)).toEqual([codes]));
  });
});

describe("among a guest's links", () => {
  it('removes a link with a scan code after a confirmation', async () => {
    localStorage.setItem('guestKey', GUEST);
    const calls = serve({ showLinks: () => page(SCANNED), removeLinks: removed });
    const { user } = visit('/');
    await user.click(await screen.findByRole('button', { name: 'Remove localhost:3000/k7Qm2_xB' }));
    within(await dialog()).getByText(PRINTED);
    await expectNoAxeViolations();
    expect(named(calls, 'removeLinks')).toEqual([]);
    await user.click(within(await dialog()).getByRole('button', { name: 'Remove' }));
    await screen.findByText(/was removed\.$/);
    await user.click(screen.getByRole('button', { name: 'Remove localhost:3000/w1thout0' }));
    await waitFor(() => expect(named(calls, 'removeLinks')).toHaveLength(2));
    expect(screen.queryByRole('dialog')).toBeNull();
  });
});
