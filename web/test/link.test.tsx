/** The page of one link, for its owner. */
import { act, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Link } from '../src/api';
import { cache } from '../src/api/cache';
import { expectNoAxeViolations, heading, logIn, refocus, visit } from './app';
import { changed, details, link } from './links';
import { data, error, held, never, serve, settled, type Reply } from './server';

const FIESTA = link('fiesta-2026', 'https://ayuntamiento.example/otro.pdf', {
  title: 'Programa de fiestas',
  tags: ['fiestas', 'carteles'],
  views: 15_660,
  bots: 31,
});
const BEFORE = [
  { long_link: 'https://ayuntamiento.example/programa.pdf', until: '2026-11-21T10:00:00Z' },
];
const refused = (reason: string): Reply => ({
  status: 400,
  body: { error: { status: 'INVALID_ARGUMENT', message: 'x', details: { reason } } },
});
// Mutations without a response must not block those of the next test.
afterEach(() => cache.getMutationCache().clear());

/** Returns the value of a field in the list of the link's fields. */
const fact = (name: string) => screen.getByText(name, { selector: 'dt' }).nextElementSibling;
const button = (name: string | RegExp) => screen.getByRole('button', { name });

function change(
  reply: (changes: Partial<Link>) => Reply = (changes) => changed({ ...FIESTA, ...changes }),
) {
  return ({ changes }: Record<string, unknown>) => reply(changes as Partial<Link>);
}

async function open(handlers: Parameters<typeof serve>[0] = {}) {
  logIn();
  const calls = serve({
    showLink: () => details(FIESTA, BEFORE),
    changeLink: change(),
    ...handlers,
  });
  const { user } = visit('/links/fiesta-2026');
  await heading('localhost:3000/fiesta-2026');
  await screen.findByText('Destination');
  return { user, calls };
}

describe('the page of a link', () => {
  it('shows the current and earlier destinations, and all fields of the link', async () => {
    const { user, calls } = await open();
    expect(calls[0]).toEqual({
      name: 'showLink',
      payload: { token: 'a-token', guest: null, code: 'fiesta-2026' },
    });
    expect(fact('Destination')).toHaveTextContent('https://ayuntamiento.example/otro.pdf');
    expect(fact('Title')).toHaveTextContent('Programa de fiestas');
    expect(fact('Tags')).toHaveTextContent('fiestas, carteles');
    expect(fact('Expires')).toHaveTextContent('Never');
    expect(fact('Created')).toHaveTextContent('20 Nov 2026');
    expect(fact('Views')).toHaveTextContent('15,660 by people, 31 by bots');
    const before = within(
      (await screen.findByRole('heading', { name: 'Earlier destinations' }))
        .parentElement as HTMLElement,
    );
    expect(before.getByRole('listitem')).toHaveTextContent(
      /^https:\/\/ayuntamiento.example\/programa.pdf until 21 Nov 2026/,
    );
    await expectNoAxeViolations();
    await user.click(button('Copy'));
    expect(await navigator.clipboard.readText()).toBe('http://localhost:3000/fiesta-2026');
  });

  it('shares the URL with its scheme if the browser can share', async () => {
    const share = vi.fn().mockResolvedValue(undefined);
    Object.assign(navigator, { share });
    try {
      const { user } = await open();
      await user.click(button('Share'));
      expect(share).toHaveBeenCalledWith({ url: 'http://localhost:3000/fiesta-2026' });
    } finally {
      Reflect.deleteProperty(navigator, 'share');
    }
  });

  it('changes the destination, and shows errors at its field', async () => {
    let answer = refused('INVALID_URL');
    let now = FIESTA;
    const { user, calls } = await open({
      showLink: () => details(now, BEFORE),
      changeLink: () => answer,
    });
    await user.click(button('Change the destination'));
    const field = screen.getByRole('textbox', { name: 'Destination' });
    expect(field).toHaveFocus();
    expect(field).toHaveValue('https://ayuntamiento.example/otro.pdf');
    await user.clear(field);
    await user.type(field, 'mailto:x@y{Enter}');
    await screen.findByText('Enter a valid URL');
    expect(field).toBeInvalid();
    expect(field).toHaveAccessibleDescription('Enter a valid URL');
    await expectNoAxeViolations();
    answer = refused('URL_REFUSED');
    await user.type(field, '{Enter}');
    await screen.findByText('This link cannot be shortened.');
    now = { ...FIESTA, long_link: 'https://new.example/' };
    answer = changed(now);
    await user.clear(field);
    await user.type(field, 'https://new.example/{Enter}');
    await waitFor(() => expect(fact('Destination')).toHaveTextContent('https://new.example/'));
    expect(calls.filter(({ name }) => name === 'changeLink').at(-1)?.payload).toEqual({
      token: 'a-token',
      guest: null,
      code: 'fiesta-2026',
      changes: { url: 'https://new.example/' },
    });
    expect(button('Change the destination')).toHaveFocus();
  });

  it('is unchanged on Escape', async () => {
    const { user, calls } = await open();
    await user.click(button('Change the title'));
    await user.type(screen.getByRole('textbox', { name: 'Title' }), 'x{Escape}');
    expect(fact('Title')).toHaveTextContent(/^Programa de fiestas Change/);
    expect(button('Change the title')).toHaveFocus();
    expect(calls).toHaveLength(1);
  });

  it('keeps a form open while it is saved, to show the result', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    const saves = held();
    const { user } = await open({ changeLink: saves.ask });
    await user.click(button('Change the title'));
    await user.type(screen.getByRole('textbox', { name: 'Title' }), ' 2026{Enter}');
    await waitFor(() => expect(saves.given).toHaveLength(1));
    expect(button('Cancel')).toHaveAttribute('aria-disabled', 'true');
    await user.click(button('Cancel'));
    expect(button('Cancel')).toHaveFocus();
    await user.keyboard('{Escape}');
    await expectNoAxeViolations();
    saves.given[0]?.(error(503, 'UNAVAILABLE'));
    await screen.findByText('Your change was not saved. Please try again.');
    expect(screen.getByRole('textbox', { name: 'Title' })).toHaveFocus();
    await user.click(button('Cancel'));
    expect(button('Change the title')).toHaveFocus();
  });

  it('changes title and tags', async () => {
    const { user, calls } = await open();
    await user.click(button('Change the title'));
    const title = screen.getByRole('textbox', { name: 'Title' });
    await user.clear(title);
    await user.type(title, '{Enter}');
    await user.click(await screen.findByRole('button', { name: 'Add a title' }));
    await user.click(screen.getByRole('textbox', { name: 'Title' }));
    await user.paste('x'.repeat(101));
    await user.keyboard('{Enter}');
    await screen.findByText('Enter at most 100 characters.');
    await user.click(button('Cancel'));
    await user.click(button('Change the tags'));
    const tags = screen.getByRole('textbox', { name: /^Tags/ });
    await user.clear(tags);
    await user.type(tags, ' rutas , ,rutas{Enter}');
    await waitFor(() => expect(fact('Tags')).toHaveTextContent(/^rutas Change/));
    const changes = calls.filter(({ name }) => name === 'changeLink');
    expect(changes.map(({ payload }) => payload['changes'])).toEqual([
      { title: '' },
      { tags: ['rutas'] },
    ]);
  });

  it('never shows an old value after the server has confirmed a change', async () => {
    const saves = held();
    const { user } = await open({
      changeLink: ({ changes }) =>
        'title' in (changes as Partial<Link>)
          ? changed({ ...FIESTA, title: 'Carreras' })
          : saves.ask(),
    });
    const page = screen.getByRole('main');
    const box = screen.getByRole<HTMLInputElement>('checkbox', {
      name: 'Make these statistics public',
    });
    await user.click(button('Change the title'));
    const field = screen.getByRole('textbox', { name: 'Title' });
    await user.clear(field);
    await user.type(field, 'Carreras');
    const titles: string[] = [];
    const boxes: boolean[] = [];
    // It observes every state of the page that a browser can paint.
    const observer = new MutationObserver(() => {
      titles.push(/Programa de fiestas|Carreras/.exec(page.textContent)?.[0] ?? 'being changed');
      boxes.push(box.checked);
    });
    observer.observe(page, { attributes: true, childList: true, subtree: true });
    await user.type(field, '{Enter}');
    await waitFor(() => expect(titles).toContain('Carreras'));
    expect(titles).not.toContain('Programa de fiestas');
    await user.click(box);
    await waitFor(() => expect(saves.given).toHaveLength(1));
    expect(box).toBeChecked();
    expect(box).toHaveAttribute('aria-busy', 'true');
    boxes.length = 0;
    saves.given[0]?.(changed({ ...FIESTA, public_statistics: true }));
    await screen.findByRole('button', { name: 'Copy the URL of the statistics' });
    await waitFor(() => expect(box).not.toHaveAttribute('aria-busy'));
    observer.disconnect();
    expect(new Set(boxes)).toEqual(new Set([true]));
  });

  it('gets an expiry date and a destination after expiry, and loses them again', async () => {
    const { user, calls } = await open({
      changeLink: change((changes) =>
        changed({ ...FIESTA, expires_at: '2099-12-01T17:00:00Z', ...changes }),
      ),
    });
    await user.click(button('Set an expiry date'));
    await user.click(button('In a week'));
    const field = screen.getByLabelText('Expires at');
    const chosen = new Date((field as HTMLInputElement).value);
    await expectNoAxeViolations();
    await user.click(button('Save'));
    await screen.findByText('After expiry');
    expect(calls.at(-1)?.payload['changes']).toEqual({ expires_at: chosen.toISOString() });
    await user.click(button('Change the destination after expiry'));
    await user.type(screen.getByRole('textbox'), 'https://next.example/{Enter}');
    await waitFor(() => expect(fact('After expiry')).toHaveTextContent('https://next.example/'));
    await user.click(button('Change the expiry date'));
    await user.click(button('Never'));
    await user.click(button('Save'));
    await waitFor(() => expect(fact('Expires')).toHaveTextContent('Never'));
    expect(calls.at(-1)?.payload['changes']).toEqual({ expires_at: null });
  });

  it('is removed and restored', async () => {
    const { user, calls } = await open({
      removeLinks: ({ codes }) => data({ success: true, removed: codes }),
      restoreLinks: ({ codes }) => data({ success: true, restored: codes }),
    });
    await user.click(button('Remove'));
    await screen.findByText(/^You removed this link/);
    expect(screen.queryByRole('button', { name: /^Change/ })).toBeNull();
    await waitFor(() => expect(calls.at(-1)?.name).toBe('removeLinks'));
    await expectNoAxeViolations();
    await user.click(button('Restore'));
    await screen.findByRole('button', { name: 'Remove' });
    await waitFor(() => expect(calls.at(-1)?.name).toBe('restoreLinks'));
  });

  it('stays removed when an earlier change gets its response', async () => {
    const [saves, removals] = [held(), held()];
    const { user } = await open({ changeLink: saves.ask, removeLinks: removals.ask });
    await user.click(button('Change the title'));
    await user.type(screen.getByRole('textbox', { name: 'Title' }), ' 2026{Enter}');
    await waitFor(() => expect(saves.given).toHaveLength(1));
    await user.click(button('Remove'));
    await screen.findByText(/^You removed this link/);
    saves.given[0]?.(changed({ ...FIESTA, title: 'Programa de fiestas 2026' }));
    await waitFor(() => expect(removals.given).toHaveLength(1));
    await waitFor(() => expect(fact('Title')).toHaveTextContent('Programa de fiestas 2026'));
    screen.getByText(/^You removed this link/);
    removals.given[0]?.(data({ success: true, removed: ['fiesta-2026'] }));
    await settled();
    screen.getByText(/^You removed this link/);
  });

  it('stays removed when a response is older than the removal', async () => {
    const [shown, removals] = [held(), held()];
    let first = true;
    const { user } = await open({
      showLink: () => {
        if (!first) return shown.ask();
        first = false;
        return details(FIESTA, BEFORE);
      },
      removeLinks: removals.ask,
    });
    const asked = (times: number) => waitFor(() => expect(shown.given).toHaveLength(times));
    await user.click(button('Remove'));
    await waitFor(() => expect(removals.given).toHaveLength(1));
    refocus();
    await asked(1);
    shown.given[0]?.(details({ ...FIESTA, views: 15_661 }, BEFORE));
    await waitFor(() => expect(fact('Views')).toHaveTextContent('15,661'));
    screen.getByText(/^You removed this link/);
    refocus();
    await asked(2);
    removals.given[0]?.(data({ success: true, removed: ['fiesta-2026'] }));
    await asked(3);
    shown.given[1]?.(details(FIESTA, BEFORE));
    await settled();
    screen.getByText(/^You removed this link/);
    shown.given[2]?.(details({ ...FIESTA, state: 'removed', views: 15_662 }, BEFORE));
    await waitFor(() => expect(fact('Views')).toHaveTextContent('15,662'));
    screen.getByText(/^You removed this link/);
  });

  it('is dropped from the cache some time after the user left it, changed or not', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true, now: Date.now() });
    const { user } = await open();
    const box = screen.getByRole('checkbox', { name: 'Make these statistics public' });
    await user.click(box);
    await screen.findByRole('button', { name: 'Copy the URL of the statistics' });
    const known = () =>
      cache.getQueryCache().findAll({ predicate: ({ queryKey: [, kind] }) => kind === 'link' });
    expect(known()).toHaveLength(1);
    await user.click(screen.getByRole('link', { name: 'HOME' }));
    await heading('Shorten, share and track your links');
    act(() => void vi.advanceTimersByTime(10 * 60_000));
    expect(known()).toEqual([]);
  });

  it('shows the state of a link that does not redirect', async () => {
    await open({
      showLink: () => details({ ...FIESTA, state: 'blocked', reason: 'malware' }),
    });
    screen.getByText('This link was blocked: malware.');
  });
});

describe('a link of another owner, or an unknown link', () => {
  const notPublic = () => data({ success: false, error: 'no logged' });

  it('is not found', async () => {
    logIn();
    serve({
      showLink: () => data({ success: false, error: 'no exist' }),
      showStatistics: notPublic,
    });
    visit('/links/fiesta-2026');
    await heading('PAGE NOT FOUND');
    expect(location.pathname).toBe('/links/fiesta-2026');
    await expectNoAxeViolations();
  });

  it('is not requested if the visitor cannot own it', async () => {
    const calls = serve({ showLink: never, showStatistics: notPublic }, 'showLink');
    visit('/links/fiesta-2026');
    await heading('PAGE NOT FOUND');
    expect(calls).toEqual([]);
  });

  it('is not requested if the code is invalid', async () => {
    logIn();
    const calls = serve({ showLink: never });
    visit('/links/x');
    await heading('PAGE NOT FOUND');
    expect(calls).toEqual([]);
  });

  it('is shown if this browser owns it, whoever is logged in', async () => {
    logIn();
    localStorage.setItem('guestKey', `${'k'.repeat(42)}A`);
    const calls = serve(
      {
        showLink: ({ guest }) =>
          guest ? details(FIESTA) : data({ success: false, error: 'no exist' }),
      },
      'showLink',
    );
    visit('/links/fiesta-2026');
    await screen.findByText('Destination');
    expect(calls.map(({ payload }) => [payload['token'], payload['guest']])).toEqual([
      ['a-token', null],
      [null, `${'k'.repeat(42)}A`],
    ]);
  });

  it('shows a failure, and can be requested again', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    logIn();
    let down = true;
    serve({ showLink: () => (down ? error(503, 'UNAVAILABLE') : details(FIESTA)) });
    const { user } = visit('/links/fiesta-2026');
    const again = await screen.findByRole('button', { name: 'Try again' });
    await expectNoAxeViolations();
    down = false;
    await user.click(again);
    await screen.findByText('Destination');
  });
});
