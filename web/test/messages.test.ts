/**
 * The messages files: every entry is used, and the data listed on the privacy page has its texts.
 */
import { describe, expect, it } from 'vitest';
import { stored as texts } from '../src/features/legal/messages';
import stored from '../src/features/legal/stored.json';

const MESSAGES = /[mM]essages\.tsx?$/;

const sources = import.meta.glob<string>('../src/**/*.{ts,tsx}', {
  eager: true,
  query: '?raw',
  import: 'default',
});
const files = import.meta.glob<Record<string, unknown>>(
  ['../src/**/{messages,*Messages}.{ts,tsx}', '!../src/languages'],
  {
    eager: true,
  },
);
const code = Object.entries(sources)
  .filter(([path]) => !MESSAGES.test(path))
  .map(([, source]) => source)
  .join('\n');

/** Whether an entry is used as `.name`, or by its quoted name if that is computed. */
const isUsed = (name: string) => new RegExp(`[.']${name}\\b`).test(code);

describe('the messages', () => {
  it.each(Object.keys(files))('of %s are all used', (path) => {
    const names = Object.values(files[path] ?? {}).flatMap((messages) =>
      typeof messages === 'object' && messages ? Object.keys(messages) : [],
    );
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !isUsed(name))).toEqual([]);
  });

  it('describe all stored data, and nothing else', () => {
    const keys = (entries: { key: string }[]) => entries.map(({ key }) => key).sort();
    for (const [group, entries] of Object.entries(stored)) {
      expect(Object.keys(texts[group as keyof typeof texts]).sort()).toEqual(keys(entries));
    }
  });
});
