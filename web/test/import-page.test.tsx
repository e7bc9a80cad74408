import { readFileSync } from 'node:fs';
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type * as worker from '../src/features/import/worker';
import { read } from '../src/features/import/read';
import { expectNoAxeViolations, heading, logIn, visit } from './app';
import { fakeIndexedDb } from './indexedDb';
import { answered, data, error, never, serve, type Call } from './server';

// jsdom has no workers: the file is read here.
vi.mock('../src/features/import/worker', (): typeof worker => ({
  readFile: async (file, options, { onRows }) => {
    const { rows, ...summary } = read(new Uint8Array(await file.arrayBuffer()), options);
    onRows(rows);
    return summary;
  },
}));

const saved: { blob: Blob; name: string }[] = [];
const text = async () => new TextDecoder().decode(await saved.at(-1)?.blob.arrayBuffer());

beforeEach(() => {
  saved.length = 0;
  vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => {
    saved.push({ blob: blob as Blob, name: '' });
    return 'blob:there';
  });
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (
    this: HTMLAnchorElement,
  ) {
    const last = saved.at(-1);
    if (last) last.name = this.download;
  });
});

interface SentRow {
  row: number;
  code: string | null;
  url: string;
}
const rowsOf = ({ payload }: Pick<Call, 'payload'>) => payload['rows'] as SentRow[];

/** Serves a backend with links of its own that remembers imported rows. */
function importServer({
  taken = [] as string[],
  refused = [] as string[],
  unfinishedUndos = 0,
} = {}) {
  const results = new Map<string, { row: number; verdict: string; code: string | null }>();
  const removed = new Map<string, number>();
  const held = new Set(taken);
  const judge = ({ code, url }: SentRow) => {
    if (refused.some((host) => url.includes(host))) return 'refused';
    if (code === null) return 'not a code';
    return held.has(code) ? 'taken' : 'new';
  };
  const linksOf = (id: string) =>
    [...results].filter(([key, { verdict }]) => key.startsWith(id) && verdict === 'new').length;
  const calls = serve({
    showLinks: never,
    checkImport: (payload) =>
      data({
        success: true,
        verdicts: rowsOf({ payload }).map((row) => ({ row: row.row, verdict: judge(row) })),
      }),
    importLinks: (payload) => {
      const id = String(payload['import_id']);
      const answers = rowsOf({ payload }).map((sent) => {
        const key = `${id} ${sent.row}`;
        const verdict = judge(sent);
        const code = verdict === 'new' ? sent.code : null;
        const result = results.get(key) ?? { row: sent.row, verdict, code };
        results.set(key, result);
        if (code !== null) held.add(code);
        return result;
      });
      return data({ success: true, results: answers });
    },
    listImports: () =>
      data({
        success: true,
        imports: [...new Set([...results.keys()].map((key) => key.split(' ')[0] ?? ''))].map(
          (id) => ({
            import_id: id,
            started_at: '2026-11-20T10:00:00Z',
            links: linksOf(id),
            removed: removed.get(id) ?? 0,
          }),
        ),
      }),
    undoImport: (payload) => {
      if (unfinishedUndos-- > 0) return error(504, 'DEADLINE_EXCEEDED');
      const id = String(payload['import_id']);
      removed.set(id, linksOf(id));
      return data({ success: true, removed: linksOf(id) });
    },
  });
  return { calls, results };
}

const fixture = (name: string) => new File([readFileSync(`test/import/fixtures/${name}`)], name);

async function open() {
  logIn('my-token');
  localStorage.setItem('username', 'Marta');
  const { user, unmount } = visit('/my-account/import');
  await heading('Import links');
  const choose = async (file: File) => {
    await user.upload(await screen.findByLabelText('Choose a file'), file);
  };
  const press = async (name: string | RegExp) =>
    user.click(await screen.findByRole('button', { name }));
  return { user, choose, press, unmount };
}

async function undo(user: Awaited<ReturnType<typeof open>>['user']) {
  await user.click(await screen.findByRole('button', { name: /^Undo this import of 20 Nov 2026/ }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Undo this import?' }));
  await user.click(dialog.getByRole('button', { name: 'Undo this import' }));
}

const csv = (...lines: string[]) => new File([lines.join('\n')], 'links.csv');
const list = () => screen.findByRole('table', { name: 'Checked rows' });
const shownRows = async () =>
  within(await list())
    .getAllByRole('row')
    .slice(1)
    .map((row) => row.textContent);

describe('the import page', () => {
  it('is linked from the account page', async () => {
    logIn();
    importServer();
    const { user } = visit('/my-account');
    await user.click(await screen.findByRole('link', { name: 'Import links' }));
    await heading('Import links');
    expect(location.pathname).toBe('/my-account/import');
    expect(document.title).toBe('Import links · Atajo');
    await expectNoAxeViolations();
  });

  it('is for accounts only', async () => {
    importServer();
    visit('/my-account/import');
    await waitFor(() => expect(location.pathname).toBe('/'));
  });

  it('checks, imports and undoes a file of Bitly', async () => {
    const { calls, results } = importServer({ taken: ['Launch24'], refused: ['restaurant'] });
    const { user, choose, press } = await open();
    await choose(fixture('bitly.csv'));
    await screen.findByRole('heading', { name: '6 links found in bitly.csv' });
    screen.getByText(/^Short URLs at Bitly cannot move/);
    expect(screen.getByLabelText('Format')).toHaveDisplayValue('Bitly');
    await expectNoAxeViolations();
    expect(calls.some(({ name }) => name === 'checkImport')).toBe(false);

    await press('Check these links');
    await screen.findByRole('heading', { name: '6 rows checked' });
    expect(await shownRows()).toEqual([
      expect.stringMatching(/^Row 2.*refused.*The destination is blocked/),
      expect.stringMatching(/^Row 3Launch24.*taken.*This ending is taken. Will get a new ending.$/),
      expect.stringMatching(/^Row 4old-flyer.*new · archived.*archived at the source/),
      expect.stringMatching(/^Row 5gone1.*new · deleted.*deleted at the source/),
      expect.stringMatching(/^Row 6first-name.*new.*Will be imported/),
      expect.stringMatching(/^Row 6second-name.*new.*Will be imported/),
    ]);
    await expectNoAxeViolations();
    await user.click(screen.getByRole('radio', { name: 'taken 1' }));
    expect(await shownRows()).toHaveLength(1);

    screen.getByRole('button', { name: 'Import 3 links' });
    await user.click(screen.getByLabelText('Give new codes where needed'));
    screen.getByRole('button', { name: 'Import 2 links' });
    await user.click(screen.getByLabelText('Give new codes where needed'));
    await user.click(screen.getByLabelText('Import links that are archived at the source (1)'));

    await press('Download the check as CSV');
    expect(saved.at(-1)?.name).toBe('atajo-import-check.csv');
    expect((await text()).split('\r\n')[2]).toBe(
      '3,Launch24,https://acme.example/launch?utm_source=qr&utm_medium=print,taken,' +
        'Will get a new ending.,This ending is taken.',
    );

    await press('Import 4 links');
    await screen.findByRole('heading', { name: '4 links were imported.' });
    await expectNoAxeViolations();
    const sent = calls.filter(({ name }) => name === 'importLinks');
    expect(sent).toHaveLength(1);
    expect(sent[0]?.payload['import_id']).toMatch(/^[A-Za-z0-9_-]{22}$/);
    const [launch] = rowsOf(sent[0] ?? { payload: {} });
    expect(launch).toEqual({
      row: 2,
      code: expect.stringMatching(/^[A-Za-z0-9_-]{8}$/) as string,
      url: 'https://acme.example/launch?utm_source=qr&utm_medium=print',
      title: 'Launch, 2024',
      tags: [],
      created_at: '2023-11-20T17:05:12.000Z',
      expires_at: null,
    });

    await press('Download old and new short URLs as CSV');
    const lines = (await text()).split('\r\n');
    expect(lines[0]).toBe('Old short URL,New short URL,Destination,Result');
    expect(lines[1]).toBe(
      `https://go.acme.example/Launch24,${location.origin}/${launch?.code ?? ''},` +
        'https://acme.example/launch?utm_source=qr&utm_medium=print,new',
    );
    expect(lines).toHaveLength(6);

    await undo(user);
    await screen.findByText('4 links were removed.', { selector: 'p' });
    expect(results.size).toBe(4);
  });

  it('continues an undo that one call does not finish', async () => {
    const { calls } = importServer({ unfinishedUndos: 2 });
    const { user, choose, press } = await open();
    await choose(csv('slug,url', 'cafe,https://cafe.example/'));
    await press('Check these links');
    await press('Import 1 link');
    await screen.findByRole('heading', { name: '1 link was imported.' });
    await undo(user);
    await screen.findByText('1 link was removed.', { selector: 'p' });
    expect(calls.filter(({ name }) => name === 'undoImport')).toHaveLength(3);
  });

  it('asks for the columns of an unknown table', async () => {
    importServer();
    const { user, choose, press } = await open();
    await choose(csv('what,where', 'cafe,https://cafe.example/', 'menu,https://cafe.example/menu'));
    await screen.findByText('Which columns hold the links? Check the suggestions.');
    expect(screen.getByLabelText('Destination')).toHaveDisplayValue('where');
    await user.selectOptions(screen.getByLabelText('Ending'), 'what');
    await expectNoAxeViolations();
    await press('Use these columns');
    await screen.findByLabelText('Ending');
    await press('Check these links');
    expect(await shownRows()).toEqual([
      expect.stringMatching(/^Row 2cafe/),
      expect.stringMatching(/^Row 3menu/),
    ]);
  });

  it('lets the user correct the format, and asks for a time zone', async () => {
    const { calls } = importServer();
    const { user, choose, press } = await open();
    await choose(
      csv(
        'keyword,url,title,timestamp,ip,clicks',
        'cafe,https://cafe.example/,Café,2024-01-15 12:00:00,,3',
      ),
    );
    await screen.findByText(/^1 date has no time zone/);
    await user.selectOptions(screen.getByLabelText('Time zone'), 'Europe/Madrid');
    await waitFor(() => expect(screen.getByLabelText('Time zone')).toHaveValue('Europe/Madrid'));
    await press('Check these links');
    await press('Import 1 link');
    await screen.findByRole('heading', { name: '1 link was imported.' });
    const sent = calls.find(({ name }) => name === 'importLinks');
    expect(sent && rowsOf(sent)[0]).toMatchObject({ created_at: '2024-01-15T11:00:00.000Z' });
    await press('Import another file');
    await choose(fixture('bitly.csv'));
    await user.selectOptions(await screen.findByLabelText('Format'), 'YOURLS');
    await screen.findByText(/does not look like an export of YOURLS/);
  });

  it('says what is wrong with a file', async () => {
    importServer();
    const { user, choose } = await open();
    await choose(csv(''));
    await screen.findByText('This file is empty.');
    await choose(new File([new Uint8Array([0x50, 0x4b, 3, 4, 0, 0])], 'links.csv'));
    await screen.findByText(/Excel workbook/);
    await user.click(screen.getByRole('button', { name: 'Read pasted text' }));
    expect(screen.getByLabelText('Or paste links')).toHaveAccessibleDescription(
      'Paste some links first, or choose a file.',
    );
    await expectNoAxeViolations();
  });

  it('accepts pasted links and dropped files', async () => {
    importServer();
    const { user, press } = await open();
    await user.click(await screen.findByLabelText('Or paste links'));
    await user.paste('https://one.example/\nhttps://two.example/');
    await press('Read pasted text');
    await screen.findByRole('heading', { name: '2 links found in the pasted text' });
    await press('Choose another file');
    await screen.findByLabelText('Choose a file');
    fireEvent.drop(document.body, { dataTransfer: { files: [csv('https://three.example/')] } });
    await screen.findByRole('heading', { name: '1 link found in links.csv' });
  });

  it('continues after a reload, and imports no row twice', async () => {
    const { calls, results } = importServer({ taken: ['code0300'] });
    const first = await open();
    const lines = Array.from({ length: 450 }, (_, index) => {
      const code = `code${String(index).padStart(4, '0')}`;
      return `${code},https://many.example/${index}`;
    });
    await first.choose(csv('slug,url', ...lines));
    await first.press('Check these links');
    const lastImport = calls.filter(({ name }) => name === 'checkImport');
    expect(lastImport).toHaveLength(1);
    await first.press('Import 450 links');
    await waitFor(() => expect(results.size).toBeGreaterThan(0));
    first.unmount();
    const id = (JSON.parse(localStorage.getItem('import') ?? '') as { id: string }).id;

    visit('/my-account/import');
    await screen.findByRole('heading', { name: '450 links were imported.' });
    const sent = calls.filter(({ name }) => name === 'importLinks');
    expect(new Set(sent.map(({ payload }) => payload['import_id']))).toEqual(new Set([id]));
    expect(sent.every((call) => rowsOf(call).length <= 200)).toBe(true);
    expect(results.size).toBe(450);
    expect([...results.values()].every(({ verdict }) => verdict === 'new')).toBe(true);
  });

  it('gives a new ending to a row whose ending was taken meanwhile', async () => {
    const taken: string[] = [];
    const { results } = importServer({ taken });
    const { choose, press } = await open();
    await choose(csv('slug,url', 'cafe,https://cafe.example/'));
    await press('Check these links');
    await screen.findByRole('button', { name: 'Import 1 link' });
    // Another account takes it.
    const id = 'x'.repeat(22);
    results.clear();
    await act(async () => {
      const { importLinks } = await import('../src/api/functions');
      const row = { row: 1, code: 'cafe', url: 'https://other.example/', title: '', tags: [] };
      const account = { kind: 'account', token: 'other' } as const;
      await importLinks(account, id, [{ ...row, created_at: null, expires_at: null }]);
    });
    await press('Import 1 link');
    await screen.findByRole('heading', { name: '1 link was imported.' });
    const mine = [...results].filter(([key]) => !key.startsWith(id)).map(([, result]) => result);
    expect(mine.map(({ row, verdict }) => [row, verdict])).toEqual([
      [1, 'taken'],
      [100_001, 'new'],
    ]);
  });

  it('isolates a row that the server cannot read', async () => {
    const server = importServer();
    serve({
      showLinks: never,
      listImports: () => data({ success: true, imports: [] }),
      checkImport: (payload) =>
        rowsOf({ payload }).some(({ url }) => url.includes('bad'))
          ? error(400, 'INVALID_ARGUMENT')
          : data({
              success: true,
              verdicts: rowsOf({ payload }).map(({ row }) => ({ row, verdict: 'new' })),
            }),
    });
    const { choose, press } = await open();
    await choose(
      csv(
        'slug,url',
        'one1,https://one.example/',
        'two2,https://bad.example/',
        'thr3,https://three.example/',
      ),
    );
    await press('Check these links');
    expect(await shownRows()).toEqual([
      expect.stringMatching(/new/),
      expect.stringMatching(/unreadable.*The row could not be read. Skipped. Correct row 3/),
      expect.stringMatching(/new/),
    ]);
    expect(server.results.size).toBe(0);
  });

  it('waits as long as the server asks, says so, and can be paused', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    serve({
      showLinks: never,
      listImports: () => data({ success: true, imports: [] }),
      checkImport: (payload) =>
        data({
          success: true,
          verdicts: rowsOf({ payload }).map(({ row }) => ({ row, verdict: 'new' })),
        }),
      importLinks: () => error(429, 'RESOURCE_EXHAUSTED', { 'retry-after': '7200' }),
    });
    const { choose, press } = await open();
    await choose(csv('slug,url', 'cafe,https://cafe.example/'));
    await press('Check these links');
    await press('Import 1 link');
    await screen.findByText(/The import continues in 2 hours/);
    await expectNoAxeViolations();
    await press('Pause');
    await screen.findByText('The import is paused.', { selector: 'p' });
    await press('Stop importing');
    await screen.findByLabelText('Choose a file');
    expect(localStorage.getItem('import')).toBeNull();
  });

  it('stops if the account is full', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    serve({
      showLinks: never,
      listImports: () => data({ success: true, imports: [] }),
      checkImport: (payload) =>
        data({
          success: true,
          verdicts: rowsOf({ payload }).map(({ row }) => ({ row, verdict: 'new' })),
        }),
      importLinks: () => error(429, 'RESOURCE_EXHAUSTED', {}, { reason: 'ACCOUNT_FULL' }),
    });
    const { choose, press } = await open();
    await choose(csv('slug,url', 'cafe,https://cafe.example/'));
    await press('Check these links');
    await press('Import 1 link');
    await screen.findByText(/^Your account has 1,000,000 links, the maximum\./);
  });

  it('does not continue the import of another account', async () => {
    localStorage.setItem(
      'import',
      JSON.stringify({
        id: 'y'.repeat(22),
        username: 'Somebody else',
        sizes: [3],
        newCodes: true,
        isFinished: false,
      }),
    );
    const { calls } = importServer();
    const { press } = await open();
    await screen.findByText(/was started in this browser by another account/);
    await press('Discard it');
    await screen.findByLabelText('Choose a file');
    expect(calls.some(({ name }) => name === 'importLinks')).toBe(false);
  });

  it.each([true, false])(
    'stays if the browser fails to open its rows for a moment; finished: %s',
    async (isFinished) => {
      vi.spyOn(console, 'error').mockReturnValue();
      const database = fakeIndexedDb();
      vi.stubGlobal('indexedDB', database);
      const { results } = importServer();
      const { choose, press, unmount } = await open();
      await choose(csv('slug,url', 'cafe,https://cafe.example/', 'kiosk,https://kiosk.example/'));
      await press('Check these links');
      await press('Import 2 links');
      await screen.findByRole('heading', { name: '2 links were imported.' });
      unmount();
      const job = JSON.parse(localStorage.getItem('import') ?? '') as object;
      localStorage.setItem('import', JSON.stringify({ ...job, isFinished }));
      database.fails = true;

      const { user } = visit('/my-account/import');
      await user.click(await screen.findByRole('button', { name: 'Continue' }));
      await screen.findByText('The import stopped. Links that are already imported are kept.');
      database.fails = false;
      await user.click(screen.getByRole('button', { name: 'Continue' }));
      await screen.findByRole('heading', { name: '2 links were imported.' });
      expect(results.size).toBe(2);
    },
  );

  it('stays in memory if the browser stores nothing, also once it does', async () => {
    vi.spyOn(console, 'warn').mockReturnValue();
    const database = fakeIndexedDb();
    vi.stubGlobal('indexedDB', database);
    database.fails = true;
    const { results } = importServer();
    const { choose, press, unmount } = await open();
    await choose(csv('slug,url', 'cafe,https://cafe.example/'));
    await press('Check these links');
    await press('Import 1 link');
    await screen.findByRole('heading', { name: '1 link was imported.' });
    unmount();
    database.fails = false;

    visit('/my-account/import');
    await screen.findByRole('heading', { name: '1 link was imported.' });
    expect(results.size).toBe(1);
  });

  it('asks for the file again if its rows are no longer stored', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    localStorage.setItem(
      'import',
      JSON.stringify({
        id: 'z'.repeat(22),
        username: 'Marta',
        sizes: Array.from({ length: 50 }, () => 200),
        newCodes: true,
        isFinished: false,
      }),
    );
    importServer();
    await open();
    await screen.findByText(/no longer has the rows of the import/);
    expect(localStorage.getItem('import')).toBeNull();
    await answered();
    screen.getByText(/no longer has the rows of the import/);
  });

  it('deletes an unfinished import on logout', async () => {
    localStorage.setItem('import', 'anything');
    logIn();
    importServer();
    const { user } = visit('/my-account');
    await user.click(await screen.findByRole('button', { name: 'Log out' }));
    expect(localStorage.getItem('import')).toBeNull();
  });
});
