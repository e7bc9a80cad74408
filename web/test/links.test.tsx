/** The list of an owner's links: search, selection, changes and undo. */
import { act, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Link, LinkChanges } from '../src/api';
import { cache } from '../src/api/cache';
import { changeOf } from '../src/features/links/changes';
import { currentOwner } from '../src/lib/owner';
import { expectNoAxeViolations, heading, logIn, refocus, toasts, visit } from './app';
import { changed, details, link, page } from './links';
import { answered, data, error, held, never, serve, settled, type Reply } from './server';

const FIESTA = link('fiesta-2026', 'https://ayuntamiento.example/programa.pdf', {
  title: 'Programa de fiestas',
  tags: ['fiestas'],
  views: 15_660,
});
const RUTAS = link('k7Qm2_xB', 'https://example.org/rutas', { views: 1_204 });
const DOCS = link('Zt0-aaQ9', 'https://docs.example.com/', { expires_at: '2099-12-01T12:00:00Z' });
const LINKS = [FIESTA, RUTAS, DOCS];

const table = () => screen.findByRole('table', { name: 'Your links' });
const rowOf = (code: string) =>
  screen.getAllByRole('row').find((row) => row.textContent.includes(code)) as HTMLElement;
const count = (words: string) => screen.findByText(words, { selector: 'label span' });
const removed = ({ codes }: Record<string, unknown>) => data({ success: true, removed: codes });
const restored = ({ codes }: Record<string, unknown>) => data({ success: true, restored: codes });

// Mutations without a response must not block those of the next test.
afterEach(() => cache.getMutationCache().clear());

type User = ReturnType<typeof visit>['user'];
async function choose(user: User, code: string, name: string): Promise<void> {
  await user.click(within(rowOf(code)).getByRole('button', { name: /^More actions for/ }));
  await user.click(screen.getByRole('menuitem', { name }));
}

describe('the list of links', () => {
  it('shows the state of each link, and links to its page', async () => {
    logIn();
    const blocked = link('blocked1', 'https://bad.example/', {
      state: 'blocked',
      reason: 'phishing',
    });
    const ended = link('ended-01', 'https://old.example/', {
      state: 'expired',
      expires_at: '2026-11-01T12:00:00Z',
    });
    // It expired after the response of the server.
    const over = link('over-001', 'https://over.example/', { expires_at: '2026-01-05T12:00:00Z' });
    serve({ showLinks: () => page([...LINKS, blocked, ended, over]) });
    visit('/my-account');
    await table();
    await count('6 links');
    expect(
      within(rowOf('fiesta-2026')).getByRole('link', { name: 'Programa de fiestas' }),
    ).toHaveAttribute('href', '/links/fiesta-2026');
    within(within(rowOf('fiesta-2026')).getByRole('list', { name: 'Tags' })).getByText('fiestas');
    expect(rowOf('Zt0-aaQ9')).toHaveTextContent('Expires 1 Dec 2099');
    expect(rowOf('blocked1')).toHaveTextContent('Blocked: phishing');
    expect(rowOf('ended-01')).toHaveTextContent('Expired 1 Nov 2026');
    expect(rowOf('over-001')).toHaveTextContent('Expired 5 Jan 2026');
    await expectNoAxeViolations();
  });

  it('sends the search to the server, and keeps it in the URL of the page', async () => {
    logIn();
    const calls = serve({
      showLinks: ({ query, state }) =>
        page(query === 'ruta' ? [RUTAS] : state === 'removed' ? [] : LINKS),
    });
    const { user } = visit('/my-account');
    await table();
    await user.type(screen.getByRole('searchbox', { name: 'Search' }), ' ruta');
    await count('1 link');
    await user.click(screen.getByRole('radio', { name: 'Most viewed' }));
    await waitFor(() =>
      expect(calls.at(-1)?.payload).toMatchObject({ query: 'ruta', order: 'most viewed' }),
    );
    expect(location.search).toBe('?search=ruta&order=most+viewed');
    // One call for the word, not one for each letter.
    expect(calls).toHaveLength(3);
    await user.clear(screen.getByRole('searchbox', { name: 'Search' }));
    await count('3 links');
    await user.click(screen.getByRole('radio', { name: 'Removed' }));
    await screen.findByText('No links match.');
    expect(calls.at(-1)?.payload).toMatchObject({ query: null, state: 'removed' });
  });

  it('is unchanged on return, without a request', async () => {
    logIn();
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const calls = serve({ showLinks: () => page([RUTAS]), showLink: never });
    const { user } = visit('/my-account?search=ruta&state=active');
    await table();
    expect(screen.getByRole('searchbox', { name: 'Search' })).toHaveValue('ruta');
    expect(screen.getByRole('radio', { name: 'Active' })).toBeChecked();
    await user.click(screen.getByRole('link', { name: /1,204 views/ }));
    await heading('localhost:3000/k7Qm2_xB');
    act(() => history.back());
    await table();
    expect(screen.getByRole('searchbox', { name: 'Search' })).toHaveValue('ruta');
    await act(() => new Promise((resolve) => setTimeout(resolve)));
    expect(calls.filter(({ name }) => name === 'showLinks')).toHaveLength(1);
  });

  it('drops search results from the cache after some time, but not the whole list', async () => {
    logIn();
    vi.useFakeTimers({ shouldAdvanceTime: true, now: Date.now() });
    const calls = serve({ showLinks: ({ query }) => page(query === null ? LINKS : [RUTAS]) });
    const { user } = visit('/my-account');
    await table();
    const field = screen.getByRole('searchbox', { name: 'Search' });
    await user.type(field, 'ruta');
    await count('1 link');
    await user.clear(field);
    await count('3 links');
    const keys = () =>
      cache
        .getQueryCache()
        .findAll({ predicate: ({ queryKey: [, kind] }) => kind === 'links' })
        .map(({ queryKey: [, , text] }) => text);
    expect(keys()).toEqual(['', 'ruta']);
    await user.click(screen.getByRole('link', { name: 'HOME' }));
    await heading('Shorten, share and track your links');
    act(() => void vi.advanceTimersByTime(10 * 60_000));
    expect(keys()).toEqual(['']);
    serve({ showLinks: never });
    await user.click(screen.getByRole('link', { name: 'MY ACCOUNT' }));
    await count('3 links');
    expect(calls.filter(({ name }) => name === 'showLinks')).toHaveLength(2);
  });

  it('loads pages by cursor while scrolling, and renders only visible rows', async () => {
    logIn();
    const many = Array.from({ length: 10_000 }, (_, index) =>
      link(`n${String(index).padStart(7, '0')}`, `https://example.org/${index}`),
    );
    const calls = serve({
      showLinks: ({ cursor }) => {
        const at = Number(cursor ?? 0);
        return page(many.slice(at, at + 100), many.length, String(at + 100));
      },
    });
    const { user } = visit('/my-account');
    expect(await table()).toHaveAttribute('aria-rowcount', '10001');
    await count('10,000 links');
    expect(screen.getAllByRole('row').length).toBeLessThan(100);
    expect(calls).toHaveLength(1);
    await user.click(screen.getByRole('button', { name: 'Show more' }));
    await waitFor(() => expect(calls).toHaveLength(2));
    expect(calls[1]?.payload['cursor']).toBe('100');
    expect(screen.getAllByRole('row').length).toBeLessThan(100);
  });

  it('says when the next page does not load, and retries', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    logIn();
    const many = Array.from({ length: 200 }, (_, index) =>
      link(`n${String(index).padStart(7, '0')}`, `https://example.org/${index}`),
    );
    let down = true;
    serve({
      showLinks: ({ cursor }) => {
        if (cursor === null) return page(many.slice(0, 100), 200, 'next');
        return down ? error(503, 'UNAVAILABLE') : page(many.slice(100), 200);
      },
    });
    const { user } = visit('/my-account');
    await table();
    await user.click(screen.getByRole('button', { name: 'Show more' }));
    await screen.findByText('More links did not load.');
    down = false;
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull());
    expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull();
  });

  it('is read from the start when the cursor has expired', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    logIn();
    const refused: Reply = {
      status: 400,
      body: { error: { status: 'INVALID_ARGUMENT', details: { reason: 'INVALID_CURSOR' } } },
    };
    const calls = serve({
      showLinks: ({ cursor }) => {
        if (cursor === 'old') return refused;
        const isFirst = calls.length === 1;
        return page(LINKS, isFirst ? 103 : 3, isFirst ? 'old' : null);
      },
    });
    visit('/my-account');
    await count('3 links');
    expect(calls.map(({ payload }) => payload['cursor'])).toEqual([null, 'old', null]);
  });

  it('says that the browser is offline', async () => {
    logIn();
    serve({ showLinks: () => page(LINKS) });
    visit('/my-account');
    await table();
    const online = vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
    act(() => void window.dispatchEvent(new Event('offline')));
    screen.getByText('You are offline. This page may be out of date.');
    online.mockReturnValue(true);
    act(() => void window.dispatchEvent(new Event('online')));
    expect(screen.queryByText(/You are offline/)).toBeNull();
    await answered();
  });
});

describe('a removed link', () => {
  it('is replaced by an undo line until the user leaves the list', async () => {
    logIn();
    const calls = serve({
      showLinks: () => page(LINKS),
      removeLinks: removed,
      restoreLinks: restored,
    });
    const { user } = visit('/my-account');
    await table();
    await choose(user, 'k7Qm2_xB', 'Remove');
    await count('2 links');
    expect(rowOf('k7Qm2_xB')).toHaveTextContent('localhost:3000/k7Qm2_xB was removed.');
    expect(calls.at(-1)).toMatchObject({ name: 'removeLinks', payload: { codes: ['k7Qm2_xB'] } });
    const undo = screen.getByRole('button', { name: /^Undo/ });
    expect(undo).toHaveFocus();
    await expectNoAxeViolations();
    await user.click(undo);
    await count('3 links');
    await waitFor(() => expect(calls.at(-1)?.name).toBe('restoreLinks'));
    expect(within(rowOf('k7Qm2_xB')).getByRole('link', { name: /1,204 views/ })).toBeVisible();
    expect(
      within(rowOf('k7Qm2_xB')).getByRole('button', { name: 'localhost:3000/k7Qm2_xB' }),
    ).toHaveFocus();

    await choose(user, 'k7Qm2_xB', 'Remove');
    await count('2 links');
    await user.click(screen.getByRole('link', { name: 'SHORTENER' }));
    await user.click(screen.getByRole('link', { name: 'MY ACCOUNT' }));
    expect(await table()).not.toHaveTextContent('was removed');
  });

  it('keeps its line when the list is refetched', async () => {
    logIn();
    let there = LINKS;
    serve({
      showLinks: () => page(there),
      removeLinks: ({ codes }) => {
        there = LINKS.filter(({ code }) => code !== 'k7Qm2_xB');
        return removed({ codes });
      },
    });
    const { user } = visit('/my-account');
    await table();
    await choose(user, 'k7Qm2_xB', 'Remove');
    await answered();
    there = [link('new-link', 'https://new.example/'), ...there];
    refocus();
    await count('3 links');
    const words = screen.getAllByRole('row').map((row) => row.textContent);
    expect(words[1]).toContain('new-link');
    expect(words[3]).toContain('k7Qm2_xB was removed.');
  });

  it('reappears if the server did not remove it', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    logIn();
    serve({ showLinks: () => page(LINKS), removeLinks: () => error(503, 'UNAVAILABLE') });
    const { user } = visit('/my-account');
    await table();
    await choose(user, 'k7Qm2_xB', 'Remove');
    await waitFor(() => expect(toasts()).toEqual(['The link was not removed. Please try again.']));
    await count('3 links');
    expect(rowOf('k7Qm2_xB')).not.toHaveTextContent('was removed');
  });

  it('is restored from the list of removed links', async () => {
    logIn();
    const gone: Link = { ...RUTAS, state: 'removed' };
    const calls = serve({ showLinks: () => page([gone]), restoreLinks: restored });
    const { user } = visit('/my-account?state=removed');
    await table();
    await choose(user, 'k7Qm2_xB', 'Restore');
    await count('0 links');
    await waitFor(() =>
      expect(calls.at(-1)).toMatchObject({
        name: 'restoreLinks',
        payload: { codes: ['k7Qm2_xB'] },
      }),
    );
    expect(rowOf('k7Qm2_xB')).toHaveTextContent('was restored.');
  });
});

describe('a stale response', () => {
  const K7 = { codes: ['k7Qm2_xB'] };
  const ZT = { codes: ['Zt0-aaQ9'] };
  const [lists, removals, restorals] = [held(), held(), held()];

  /** Opens a list of three links, whose further calls wait for the test. */
  async function open() {
    for (const { given } of [lists, removals, restorals]) given.length = 0;
    logIn();
    let first = true;
    serve({
      showLinks: () => {
        if (!first) return lists.ask();
        first = false;
        return page(LINKS);
      },
      removeLinks: removals.ask,
      restoreLinks: restorals.ask,
    });
    const { user } = visit('/my-account');
    await table();
    return user;
  }
  async function asked({ given }: typeof lists, times: number): Promise<void> {
    await waitFor(() => expect(given).toHaveLength(times));
  }

  it('does not bring back a link that was removed while it was in flight', async () => {
    const user = await open();
    await choose(user, 'Zt0-aaQ9', 'Remove');
    await asked(removals, 1);
    refocus();
    await asked(lists, 1);
    removals.given[0]?.(removed(ZT));
    await asked(lists, 2);
    lists.given[0]?.(page(LINKS));
    await settled();
    expect(rowOf('Zt0-aaQ9')).toHaveTextContent('was removed.');
    lists.given[1]?.(page([FIESTA, RUTAS]));
    await settled();
    await count('2 links');
    expect(rowOf('Zt0-aaQ9')).toHaveTextContent('was removed.');
  });

  it('does not bring back a link if it was requested before that link was removed', async () => {
    const user = await open();
    refocus();
    await asked(lists, 1);
    await choose(user, 'k7Qm2_xB', 'Remove');
    await choose(user, 'Zt0-aaQ9', 'Remove');
    await asked(removals, 1);
    removals.given[0]?.(removed(K7));
    await asked(removals, 2);
    await asked(lists, 2);
    removals.given[1]?.(removed(ZT));
    await asked(lists, 3);
    lists.given[1]?.(page([FIESTA, DOCS]));
    await settled();
    expect(rowOf('Zt0-aaQ9')).toHaveTextContent('was removed.');
    lists.given[2]?.(page([FIESTA]));
    await count('1 link');
    expect(rowOf('Zt0-aaQ9')).toHaveTextContent('was removed.');
  });

  it('is used for other links until a newer response arrives', async () => {
    const made = link('new-link', 'https://new.example/');
    const user = await open();
    await choose(user, 'Zt0-aaQ9', 'Remove');
    await asked(removals, 1);
    refocus();
    await asked(lists, 1);
    lists.given[0]?.(page([made, ...LINKS]));
    await waitFor(() => expect(rowOf('new-link')).toBeDefined());
    expect(rowOf('Zt0-aaQ9')).toHaveTextContent('was removed.');
    removals.given[0]?.(removed(ZT));
    await asked(lists, 2);
    lists.given[1]?.(page([made, FIESTA, RUTAS]));
    await count('3 links');
  });

  it('does not delay queued mutations when the page closes', async () => {
    const user = await open();
    await choose(user, 'k7Qm2_xB', 'Remove');
    await asked(removals, 1);
    await user.click(screen.getByRole('button', { name: /^Undo/ }));
    await settled();
    expect(restorals.given).toEqual([]);
    act(() => void window.dispatchEvent(new Event('pagehide')));
    await asked(restorals, 1);
  });

  it('leaves to the last of queued mutations what they change when the page closes', async () => {
    const user = await open();
    await choose(user, 'k7Qm2_xB', 'Remove');
    await asked(removals, 1);
    await user.click(screen.getByRole('button', { name: /^Undo/ }));
    await choose(user, 'k7Qm2_xB', 'Remove');
    await choose(user, 'Zt0-aaQ9', 'Remove');
    act(() => void window.dispatchEvent(new Event('pagehide')));
    await asked(removals, 3);
    await settled();
    expect(restorals.given).toEqual([]);
  });

  it('sends of queued changes what no later one overrides when the page closes', async () => {
    logIn();
    const saves = held();
    const calls = serve({ changeLink: saves.ask });
    const save = (changes: LinkChanges) => {
      const options = changeOf(currentOwner(), 'k7Qm2_xB');
      cache.getMutationCache().build(cache, options).execute(changes).catch(console.error);
    };
    save({ title: 'first' });
    await asked(saves, 1);
    save({ title: 'second', tags: ['tag'] });
    save({ title: 'third' });
    save({ ended_url: null });
    await settled();
    window.dispatchEvent(new Event('pagehide'));
    await asked(saves, 4);
    await settled();
    expect(calls.map(({ payload }) => payload['changes'])).toEqual([
      { title: 'first' },
      { ended_url: null },
      { title: 'third' },
      { tags: ['tag'] },
    ]);
  });

  it('does not send a mutation again after the back-forward cache', async () => {
    const user = await open();
    await choose(user, 'k7Qm2_xB', 'Remove');
    await asked(removals, 1);
    await user.click(screen.getByRole('button', { name: /^Undo/ }));
    act(() => void window.dispatchEvent(new Event('pagehide')));
    await asked(restorals, 1);
    act(() => void window.dispatchEvent(new Event('pagehide')));
    removals.given[0]?.(removed(K7));
    restorals.given[0]?.(restored(K7));
    await settled();
    refocus();
    await asked(lists, 1);
    lists.given[0]?.(page(LINKS));
    await count('3 links');
    expect(rowOf('k7Qm2_xB')).not.toHaveTextContent('was removed');
    expect(restorals.given).toHaveLength(1);
    expect(toasts()).toEqual([]);
  });

  it('does not remove a restored link', async () => {
    const user = await open();
    await choose(user, 'k7Qm2_xB', 'Remove');
    await asked(removals, 1);
    removals.given[0]?.(removed(K7));
    await settled();
    await user.click(screen.getByRole('button', { name: /^Undo/ }));
    await asked(restorals, 1);
    refocus();
    await asked(lists, 1);
    lists.given[0]?.(page([FIESTA, DOCS]));
    await settled();
    const words = screen.getAllByRole('row').map((row) => row.textContent);
    expect(words[2]).toContain('k7Qm2_xB');
    expect(words[2]).not.toContain('was removed');
    restorals.given[0]?.(restored(K7));
    await asked(lists, 2);
    lists.given[1]?.(page(LINKS));
    await count('3 links');
  });

  it('is ignored for a link that has a newer change', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    const user = await open();
    await choose(user, 'k7Qm2_xB', 'Remove');
    await user.click(screen.getByRole('button', { name: /^Undo/ }));
    await choose(user, 'k7Qm2_xB', 'Remove');
    await asked(removals, 1);
    removals.given[0]?.(error(503, 'UNAVAILABLE'));
    await asked(restorals, 1);
    expect(rowOf('k7Qm2_xB')).toHaveTextContent('was removed.');
    restorals.given[0]?.(restored(K7));
    await asked(removals, 2);
    // A request made now is also older than the last change.
    refocus();
    await asked(lists, 1);
    lists.given[0]?.(page(LINKS));
    await settled();
    expect(rowOf('k7Qm2_xB')).toHaveTextContent('was removed.');
    removals.given[1]?.(removed(K7));
    await asked(lists, 2);
    lists.given[1]?.(page([FIESTA, DOCS]));
    await count('2 links');
    expect(rowOf('k7Qm2_xB')).toHaveTextContent('was removed.');
  });

  it('does not bring back a link that was just created and then removed', async () => {
    logIn();
    const shown = held();
    serve({
      showLinks: () => page(LINKS),
      showLink: shown.ask,
      createShortLink: ({ code }) => data({ success: true, code, short_link: code }),
      removeLinks: removed,
    });
    const { user } = visit('/my-account');
    await table();
    const field = screen.getByRole('textbox', { name: 'Link to shorten' });
    await user.type(field, 'https://example.org/new{Enter}');
    await count('4 links');
    await waitFor(() => expect(shown.given).toHaveLength(1));
    const made = within(screen.getAllByRole('row')[1] as HTMLElement);
    const code = /localhost:3000\/(\S{8})/.exec(
      made.getByRole('button', { name: /^localhost/ }).textContent,
    )?.[1] as string;
    await choose(user, code, 'Remove');
    await waitFor(() => expect(rowOf(code)).toHaveTextContent('was removed.'));
    await settled();
    shown.given[0]?.(details(link(code, 'https://example.org/new')));
    await settled();
    expect(rowOf(code)).toHaveTextContent('was removed.');
  });
});

describe('several links', () => {
  const many = Array.from({ length: 12 }, (_, index) =>
    link(`link-${String(index).padStart(2, '0')}`, `https://example.org/${index}`, {
      tags: index === 0 ? ['old'] : [],
    }),
  );
  const box = (name: RegExp) => screen.getByRole('checkbox', { name });

  it('are selected one by one, as a range, and all at once', async () => {
    logIn();
    serve({ showLinks: () => page(many) });
    const { user } = visit('/my-account');
    await table();
    await user.click(box(/link-01$/));
    await count('1 of 12 links selected');
    await user.keyboard('{Shift>}');
    await user.click(box(/link-04$/));
    await user.keyboard('{/Shift}');
    await count('4 of 12 links selected');
    expect(box(/link-03$/)).toBeChecked();
    await user.click(box(/^Select all 12 shown/));
    await count('12 of 12 links selected');
    await expectNoAxeViolations();
    await user.click(box(/^Select all 12 shown/));
    await count('12 links');
  });

  it('are removed together, and restored with one click', async () => {
    logIn();
    const calls = serve({
      showLinks: () => page(many),
      removeLinks: removed,
      restoreLinks: restored,
    });
    const { user } = visit('/my-account');
    await table();
    await user.click(box(/link-01$/));
    await user.click(box(/link-02$/));
    await user.click(screen.getByRole('button', { name: 'Remove' }));
    await count('10 links');
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(calls.at(-1)?.payload['codes']).toEqual(['link-01', 'link-02']);
    await waitFor(() => expect(toasts()[0]).toMatch(/^2 links removed/));
    await user.click(screen.getByRole('button', { name: 'Undo' }));
    await count('12 links');
    await waitFor(() => expect(calls.at(-1)?.name).toBe('restoreLinks'));
  });

  it('need a confirmation if they are more than one sees at a glance', async () => {
    logIn();
    const calls = serve({ showLinks: () => page(many), removeLinks: removed });
    const { user } = visit('/my-account');
    await table();
    await user.click(box(/^Select all/));
    await user.click(screen.getByRole('button', { name: 'Remove' }));
    const dialog = screen.getByRole('dialog', { name: 'Remove 12 links?' });
    await user.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    expect(calls.some(({ name }) => name === 'removeLinks')).toBe(false);
    await user.click(screen.getByRole('button', { name: 'Remove' }));
    await user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Remove' }));
    await count('0 links');
    expect(calls.at(-1)?.payload['codes']).toHaveLength(12);
  });

  it('stay removed during the removal of the rest, despite a stale response', async () => {
    logIn();
    const most = Array.from({ length: 101 }, (_, index) =>
      link(`more-${String(index).padStart(3, '0')}`, `https://example.org/${index}`),
    );
    const [lists, removals] = [held(), held()];
    let first = true;
    serve({
      showLinks: () => {
        if (!first) return lists.ask();
        first = false;
        return page(most);
      },
      removeLinks: removals.ask,
    });
    const { user } = visit('/my-account');
    await table();
    await user.click(box(/^Select all/));
    await user.click(screen.getByRole('button', { name: 'Remove' }));
    await user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Remove' }));
    await waitFor(() => expect(removals.given).toHaveLength(1));
    refocus();
    await waitFor(() => expect(lists.given).toHaveLength(1));
    removals.given[0]?.(removed({ codes: most.slice(0, 100).map(({ code }) => code) }));
    await waitFor(() => expect(removals.given).toHaveLength(2));
    lists.given[0]?.(page(most));
    await settled();
    expect(rowOf('more-000')).toHaveTextContent('was removed.');
  });

  it('are tagged, and keep their existing tags', async () => {
    logIn();
    const calls = serve({
      showLinks: () => page(many),
      changeLink: ({ code, changes }) => {
        const known = many.find((one) => one.code === code) as Link;
        return changed({ ...known, ...(changes as Partial<Link>) });
      },
    });
    const { user } = visit('/my-account');
    await table();
    await user.click(box(/link-00$/));
    await user.click(box(/link-01$/));
    await user.click(screen.getByRole('button', { name: 'Tag' }));
    const dialog = screen.getByRole('dialog', { name: 'Tag 2 links' });
    const field = within(dialog).getByRole('textbox');
    expect(field).toHaveFocus();
    await user.type(field, `${'x'.repeat(31)}{Enter}`);
    await within(dialog).findByText('Enter at most 10 tags with at most 30 characters each.');
    await user.clear(field);
    await user.type(field, 'rutas, carteles, rutas{Enter}');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    const changes = calls.filter(({ name }) => name === 'changeLink');
    expect(changes.map(({ payload }) => payload['changes'])).toEqual([
      { tags: ['old', 'rutas', 'carteles'] },
      { tags: ['rutas', 'carteles'] },
    ]);
    expect(rowOf('link-00')).toHaveTextContent('oldrutascarteles');
  });
});
