// @vitest-environment node
/** Every format and quirk of the importer, as a small file with its expected rows. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Parsed, ReadOptions, Row } from '../../src/features/import/parsed';
import { read } from '../../src/features/import/read';
import { LocalVerdicts } from '../../src/features/import/verdicts';

const FOLDER = new URL('./fixtures/', import.meta.url);
const EXPECTED = '.expected.json';
const NOW = Date.UTC(2026, 0, 1);

/** Options that a user chose for some files. */
const OPTIONS: Record<string, Partial<ReadOptions>> = {
  'generic-chosen.csv': {
    columns: {
      header: true,
      code: 0,
      destination: 1,
      title: 2,
      tags: null,
      created_at: null,
      expires_at: null,
    },
  },
  'yourls-madrid.csv': { zone: 'Europe/Madrid' },
  'chosen-source.csv': { source: 'bitly' },
};

const files = readdirSync(FOLDER).filter((name) => !name.endsWith(EXPECTED));

describe('fixtures', () => {
  test.each(files)('%s', async (name) => {
    const bytes = new Uint8Array(readFileSync(new URL(name, FOLDER)));
    const expected = new URL(name + EXPECTED, FOLDER);
    const parsed = read(bytes, { now: NOW, ...OPTIONS[name] });
    // Vitest creates a missing file, so that the next run finds it.
    const exists = existsSync(expected);
    await expect(textOf(parsed)).toMatchFileSnapshot(expected.pathname);
    expect(exists).toBe(true);
  });
});

/** Returns JSON with a row on each line. Omits empty fields. */
function textOf({ source, problems, questions, rows }: Parsed): string {
  const verdicts = new LocalVerdicts();
  const lines = rows.map((row) => `    ${JSON.stringify(sparse(row, verdicts.of(row)))}`);
  return [
    '{',
    `  "source": ${JSON.stringify(source)},`,
    `  "problems": ${JSON.stringify(problems)},`,
    `  "questions": ${JSON.stringify(questions)},`,
    lines.length === 0 ? '  "rows": []' : `  "rows": [\n${lines.join(',\n')}\n  ]`,
    '}\n',
  ].join('\n');
}

function sparse(row: Row, verdict: string | null): object {
  const isEmpty = (value: unknown) =>
    value === null || value === '' || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(
    Object.entries({ ...row, verdict }).filter(([, value]) => !isEmpty(value)),
  );
}
