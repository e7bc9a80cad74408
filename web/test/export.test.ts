// @vitest-environment node
/**
 * The files of 'Download everything'. tests/system/export tests their configurations with real
 * servers.
 */
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { locationOf, type ExportedLink } from '../src/features/export/exported';
import { Kit } from '../src/features/export/kit';
import type { Message, Order } from '../src/features/export/kit.worker';
import { Sha256 } from '../src/features/export/sha256';
import { read } from '../src/features/import/read';
import { link as plainLink } from './links';

const ORIGIN = 'https://atajo.example';
const NOW = Date.UTC(2026, 11, 1);

const link = (code: string, url: string, more: Partial<ExportedLink> = {}): ExportedLink => ({
  ...plainLink(code, url, { short_url: `${ORIGIN}/${code}` }),
  history: [],
  ...more,
});

const LINKS = [
  link('AbCd', 'https://one.example/?q="x"&<y>', {
    title: '=SUM(A1), "quoted"\u00a0ñ',
    tags: ['spring, summer', 'a|b', '@c'],
    views: 12,
    changed_at: '2026-11-21T10:00:00Z',
    history: [{ long_link: 'https://before.example/,"', until: '2026-11-21T10:00:00Z' }],
  }),
  link('abcd', 'https://two.example/ñ', {
    scan_code: 'AB12-CD3',
    created_at: '2020-01-02T03:04:05Z',
  }),
  link('-dash', 'https://three.example/', { expires_at: '2030-01-01T00:00:00Z' }),
  link('expired1', 'https://four.example/', {
    state: 'expired',
    expires_at: '2026-01-01T00:00:00Z',
    ended_url: 'https://end.example/',
  }),
  link('removed1', 'https://five.example/', { state: 'removed' }),
];

async function contentsOf(links: readonly ExportedLink[]): Promise<Map<string, string>> {
  const kit = new Kit(ORIGIN);
  for (const one of links) kit.add([one]);
  const files = new Map<string, string>();
  for (const { name, input } of kit.files()) {
    files.set(name, Buffer.from(await input.arrayBuffer()).toString());
  }
  expect(files.size).toBe(kit.fileCount);
  return files;
}

const rowsOf = (text = '') => read(new TextEncoder().encode(text), { now: NOW });

describe('the kit', () => {
  it('contains all files', async () => {
    expect([...(await contentsOf(LINKS)).keys()]).toEqual([
      'README.txt',
      'links.csv',
      'links.json',
      'nginx.conf',
      'apache.conf',
      '_redirects',
      'shlink.csv',
      'yourls.csv',
      'dub.csv',
      'html/AbCd/index.html',
      'html/abcd/index.html',
      'html/AB12-CD3/index.html',
      'html/-dash/index.html',
      'SHA256SUMS',
    ]);
  });

  it('names every file in its README, whose lines fit a terminal', async () => {
    const files = await contentsOf(LINKS);
    const readme = files.get('README.txt') ?? '';
    for (const name of files.keys()) {
      if (name !== 'README.txt') expect(readme).toContain(name.replace(/^html\/.*/, 'html/'));
    }
    expect(Math.max(...readme.split('\n').map(({ length }) => length))).toBeLessThan(110);
    expect(readme).toContain('all links of your account: 5, in every state');
  });

  it.each(['links.csv', 'links.json'])('contains %s, which the importer can read', async (name) => {
    const parsed = rowsOf((await contentsOf(LINKS)).get(name));
    expect(parsed).toMatchObject({ source: 'atajo', problems: [] });
    expect(parsed.rows).toMatchObject(
      LINKS.map(({ code, short_url, long_link, title, tags, created_at, expires_at }) => ({
        code,
        short_url,
        destination: long_link,
        title: title.trim(),
        tags,
        created_at: new Date(created_at).toISOString(),
        expires_at: expires_at && new Date(expires_at).toISOString(),
        unreadable: null,
      })),
    );
    expect(parsed.rows.map(({ state }) => state)).toEqual([null, null, null, 'expired', 'deleted']);
  });

  it('contains the history of each link', async () => {
    const files = await contentsOf(LINKS);
    const links = JSON.parse(files.get('links.json') ?? '') as ExportedLink[];
    expect(links.map(({ history }) => history)).toEqual(LINKS.map(({ history }) => history));
    const [head = '', first = ''] = (files.get('links.csv') ?? '').split('\r\n');
    expect(head).toMatch(/,scan_code,domain,history$/);
    const cell = JSON.stringify(LINKS[0]?.history).replaceAll('"', '""');
    expect(first.endsWith(`,"${cell}"`)).toBe(true);
  });

  it.each([
    ['shlink.csv', 'shlink'],
    ['yourls.csv', 'yourls'],
    ['dub.csv', 'dub'],
  ])('contains %s with the active links', async (name, source) => {
    const parsed = rowsOf((await contentsOf(LINKS)).get(name));
    expect(parsed.source).toBe(source);
    expect(parsed.rows.map(({ code, destination }) => [code, destination])).toEqual(
      LINKS.filter(({ state }) => state === 'active').map((one) => [one.code, one.long_link]),
    );
    expect(parsed.rows[0]?.title).toBe(LINKS[0]?.title);
  });

  it('writes tables in the documented formats of their programs', async () => {
    const files = await contentsOf(LINKS.slice(0, 2));
    expect(files.get('shlink.csv')).toBe(
      'Long URL,Short code,Title,Tags\r\n' +
        '"https://one.example/?q=""x""&<y>",AbCd,"=SUM(A1), ""quoted""\u00a0ñ","spring, summer|a/b|@c"\r\n' +
        'https://two.example/ñ,abcd,,\r\n',
    );
    expect(files.get('yourls.csv')?.split('\r\n')[2]).toBe(
      'abcd,https://two.example/ñ,,2020-01-02 03:04:05,,0',
    );
    expect(files.get('dub.csv')?.split('\r\n')[2]).toBe(
      'https://atajo.example/abcd,https://two.example/ñ,0,2020-01-02T03:04:05Z,,No,',
    );
  });

  it('contains pages that redirect', async () => {
    const page = (await contentsOf(LINKS)).get('html/AbCd/index.html') ?? '';
    expect(page).toContain(
      '<meta http-equiv="refresh" content="0; url=https://one.example/?q=&quot;x&quot;&amp;&lt;y&gt;">',
    );
    expect(page).toContain('<link rel="canonical" href="https://one.example/?q=&quot;x');
  });

  it('is small if there are no links', async () => {
    const files = await contentsOf([]);
    expect(files.get('links.json')).toBe('[\n]\n');
    expect(files.get('_redirects')).toBe('');
  });

  it('computes the same hashes as Node', () => {
    for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 1_000, 100_000]) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 7) % 256);
      const hash = new Sha256();
      for (let at = 0; at < length; at += 37) hash.update(bytes.subarray(at, at + 37));
      expect(hash.digest()).toBe(createHash('sha256').update(bytes).digest('hex'));
    }
  });

  it('percent-encodes like the gateway', () => {
    expect(locationOf('https://x.example/ñ b\u2028%')).toBe(
      'https://x.example/%C3%B1%20b%E2%80%A8%',
    );
  });
});

it('the worker creates a ZIP of the files', async () => {
  const messages: Message[] = [];
  let listener: ((event: { data: Order }) => void) | undefined;
  vi.stubGlobal('addEventListener', (_type: string, given: typeof listener) => (listener = given));
  const ended = new Promise<Blob>((resolve) => {
    vi.stubGlobal('postMessage', (message: Message) => {
      messages.push(message);
      if (message.kind === 'file') resolve(message.file);
    });
  });
  // Node has no reportError. A rejection would fail the test.
  vi.stubGlobal('reportError', (error: Error) => Promise.reject(error));
  await import('../src/features/export/kit.worker');
  const many = Array.from({ length: 1_200 }, (_, index) =>
    link(`code${index}`, `https://many.example/${index}`),
  );
  listener?.({ data: { kind: 'begin', origin: ORIGIN } });
  listener?.({ data: { kind: 'links', links: many.slice(0, 700) } });
  listener?.({ data: { kind: 'links', links: many.slice(700) } });
  listener?.({ data: { kind: 'end' } });
  const zip = new Uint8Array(await (await ended).arrayBuffer());
  vi.unstubAllGlobals();
  expect(messages.filter(({ kind }) => kind === 'progress')).toEqual([
    { kind: 'progress', done: 500, total: 1_210 },
    { kind: 'progress', done: 1_000, total: 1_210 },
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'atajo-export-'));
  try {
    writeFileSync(join(folder, 'kit.zip'), zip);
    const unzip = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])';
    execFileSync('python3', ['-c', unzip, join(folder, 'kit.zip'), folder]);
    execFileSync('sha256sum', ['--check', '--quiet', '--strict', 'SHA256SUMS'], { cwd: folder });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
