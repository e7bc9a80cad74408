// @vitest-environment node
/** Properties of every file: the importer never throws, and reads Atajo's own export exactly. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Link } from '../../src/api';
import { EncodingDetector } from '../../src/features/import/encoding';
import type { Parsed, Row } from '../../src/features/import/parsed';
import { read } from '../../src/features/import/read';
import { Reading } from '../../src/features/import/reading';
import { historyWriters, type Format } from '../../src/features/export/files/links';
import { Random } from './generate';

const FOLDER = new URL('./fixtures/', import.meta.url);
const NOW = Date.UTC(2026, 0, 1);
const FILES = readdirSync(FOLDER)
  .filter((name) => !name.endsWith('.expected.json'))
  .map((name) => new Uint8Array(readFileSync(new URL(name, FOLDER))));
/** Characters that are significant in some format. */
const SIGNS = '"\'`,;|\t\r\n\0\\{}[]()<>/&=-#:%\ufeff é\ud800'.split('');
const WORDS = [
  'INSERT INTO links VALUES(',
  'https://a.example/',
  '<DT><A HREF="',
  'url',
  '12',
  'a',
];

const encode = (text: string) => new TextEncoder().encode(text);

describe('any bytes', () => {
  it('are read without an exception', () => {
    const random = new Random(1);
    for (let run = 0; run < 300; run += 1) {
      const bytes = Uint8Array.from({ length: random.below(200) }, () => random.below(256));
      expectSound(read(bytes, { now: NOW }));
      const text = random.text([...SIGNS, ...WORDS], random.below(100));
      expectSound(read(encode(text), { now: NOW }));
    }
  });

  it('of a damaged real file are read without an exception', () => {
    const random = new Random(2);
    for (const file of FILES) {
      for (let run = 0; run < 20; run += 1) expectSound(read(damage(file, random), { now: NOW }));
    }
  });

  it('yield the same rows in pieces as at once', () => {
    const random = new Random(3);
    for (const file of FILES) expect(readPieces(file, random)).toEqual(read(file, { now: NOW }));
  });
});

it.each([
  ['JPEG', [0xff, 0xd8, 0xff, 0xe1, 0x45, 0xe9]],
  ['PNG', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['WebP', [0x52, 0x49, 0x46, 0x46, 0xe9, 0x00, 0x01, 0x00]],
])('a picture is no text, whatever its encoding would be: %s', (_kind, bytes) => {
  const { problems, rows } = read(Uint8Array.from(bytes), { now: NOW });
  expect(problems).toEqual([{ code: 'not-text', count: 1 }]);
  expect(rows).toEqual([]);
});

describe.each<Format>(['csv', 'json'])("Atajo's own %s", (format) => {
  it('is read exactly', () => {
    const random = new Random(4);
    const links = Array.from({ length: 500 }, (_, index) => anyLink(random, index));
    const { head, line, foot } = historyWriters[format];
    const file =
      head + links.map((link, index) => line(withHistory(link), index === 0)).join('') + foot;
    const parsed = read(encode(file), { now: NOW });
    expect(parsed).toMatchObject({ source: 'atajo', problems: [] });
    expect(parsed.questions).toEqual({ zone: null, columns: null });
    expect(parsed.rows.map(fieldsOf)).toEqual(links.map(expectedOf));
  });
});

const withHistory = (link: Link) => ({
  ...link,
  history: [{ long_link: `${link.long_link}#"before"`, until: '2025-01-01T00:00:00Z' }],
});

function expectSound({ rows }: Parsed): void {
  expect(rows.map(({ row }) => row)).toEqual(rows.map((_, index) => index + 1));
  for (const { title, tags, unreadable, destination } of rows) {
    expect(Array.from(title).length).toBeLessThanOrEqual(100);
    expect(tags.length).toBeLessThanOrEqual(10);
    if (unreadable === null) expect(destination).not.toBe('');
  }
}

function damage(file: Uint8Array, random: Random): Uint8Array {
  const from = random.below(file.length + 1);
  const damaged = file.slice(0, random.below(2) === 0 ? file.length : from);
  for (let byte = 0; byte < 3 && damaged.length > 0; byte += 1) {
    const sign = random.pick(SIGNS).charCodeAt(0);
    damaged[random.below(damaged.length)] = random.below(2) === 0 ? sign : random.below(256);
  }
  return damaged;
}

function readPieces(file: Uint8Array, random: Random): Parsed {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < file.length;) {
    const end = at + 1 + random.below(40);
    pieces.push(file.subarray(at, end));
    at = end;
  }
  const detector = new EncodingDetector();
  for (const piece of pieces) detector.write(piece);
  const rows: Row[] = [];
  const reading = new Reading(detector.end(), { now: NOW }, (row) => rows.push(row));
  for (const piece of pieces) reading.write(piece);
  return { rows, ...reading.end() };
}

/**
 * Returns a link as the server can have it: without control characters, and without spaces around
 * texts.
 */
function anyLink(random: Random, index: number): Link {
  const parts = [
    "'",
    '=',
    '+',
    '-',
    '@',
    '＝',
    '"',
    ',',
    ';',
    '\\',
    'a',
    'é',
    '🙂',
    'x y',
    '\u200b',
  ];
  const some = (limit: number) => random.text(parts, random.below(limit)).trim();
  const code = random.pick(['-', '_', 'a', 'Z']) + String(index).padStart(7, '0');
  return {
    code,
    long_link: `https://example.org/${some(20)}`,
    title: some(20),
    tags: [...new Set(Array.from({ length: random.below(5) }, () => some(5)))].filter(
      (tag) => tag !== '',
    ),
    state: 'active',
    reason: null,
    created_at: new Date(NOW - 1 - random.below(1e9) * 100).toISOString(),
    changed_at: null,
    expires_at:
      random.below(2) === 0 ? null : new Date(NOW + 1 + random.below(1e9) * 100).toISOString(),
    ended_url: null,
    public_statistics: random.below(2) === 0,
    views: random.below(100),
    bots: 0,
  };
}

function fieldsOf({ code, destination, title, tags, created_at, expires_at, notes }: Row) {
  return { code, destination, title, tags, created_at, expires_at, notes };
}

function expectedOf({ code, long_link, title, tags, created_at, expires_at }: Link) {
  return { code, destination: long_link, title, tags, created_at, expires_at, notes: [] };
}
