/** Every language has all texts and nothing else. */
import { describe, expect, it } from 'vitest';
import document from '../index.html?raw';
import { counted } from '../src/languages/es/lib/counted';
import { item as apiKeys } from '../src/languages/es/features/apiKeys/messages';
import { past } from '../src/languages/es/features/import/messages';
import { passkeys } from '../src/languages/es/features/session/passkeyMessages';
import { messages as sessions } from '../src/languages/es/features/sessions/messages';
import manifestSource from '../public/manifest.webmanifest?raw';

type Module = Record<string, unknown>;
interface DocumentTexts {
  name: string;
  texts: Record<string, string>;
}

const english = import.meta.glob<Module>(
  ['../src/**/{messages,*Messages}.{ts,tsx}', '!../src/languages'],
  {
    eager: true,
  },
);
const translated = import.meta.glob<Module>('../src/languages/*/**/*.{ts,tsx}', { eager: true });
const replaceable = Object.keys(import.meta.glob(['../src/**/*.{ts,tsx}', '!../src/languages']));
const documents = import.meta.glob<DocumentTexts>('../src/languages/*/document.json', {
  eager: true,
  import: 'default',
});
const tags = Object.keys(documents).map((path) => path.split('/')[3] ?? '');

/** Texts that are the same in several languages: names, units and formats. */
const SAME =
  /^(\W*|API|Atajo|Bots?|CSV|Color|HOME|JSON|MB|PDF|PNG|QR|Radial|SMS|SVG|Total|URL|UTC|WEP|Wi-Fi|vCard.*|[LMQH]|.*\.(me|cc|io)|\/k7Qm2_xB)$/i;

/** Returns the texts of a module by their names; functions are 'function'. */
function textsOf(value: unknown, name = ''): [string, string][] {
  if (typeof value === 'string') return [[name, value]];
  if (typeof value !== 'object' || value === null) return [[name, typeof value]];
  return Object.entries(value).flatMap(([key, part]) => textsOf(part, `${name}.${key}`));
}

const namesOf = (value: unknown) => textsOf(value).map(([name]) => name);
/** The length of a list of lines is up to its language. */
const withoutLines = (names: string[]) => names.map((name) => name.replace(/Comment\.\d+$/, ''));

describe.each(tags)('the language %s', (tag) => {
  const folder = `../src/languages/${tag}/`;
  const pairs = Object.entries(english).map(
    ([path, texts]) => [path, texts, translated[path.replace('../src/', folder)]] as const,
  );

  it.each(pairs)('has each text of %s', (_path, texts, translation) => {
    const names = (of: unknown) => [...new Set(withoutLines(namesOf(of)))].sort();
    expect(names(translation)).toEqual(names(texts));
  });

  it.each(pairs)('leaves nothing of %s in English', (_path, texts, translation) => {
    const original = new Map(textsOf(texts));
    const same = textsOf(translation).filter(
      ([name, text]) =>
        text !== 'function' &&
        text === original.get(name) &&
        !SAME.test(text) &&
        !/rules|sourceNames/.test(name),
    );
    expect(same).toEqual([]);
  });

  it('replaces existing modules only', () => {
    const own = Object.keys(translated)
      .filter((path) => path.startsWith(folder) && path.slice(folder.length).includes('/'))
      .map((path) => path.replace(folder, '../src/'));
    expect(own.filter((path) => !replaceable.includes(path))).toEqual([]);
  });

  it('has each text of the document and of the manifest', () => {
    const head = new DOMParser().parseFromString(document, 'text/html');
    const selected = ['title', 'noscript p'].map((each) => head.querySelector(each)?.textContent);
    const described = Array.from(
      head.querySelectorAll<HTMLMetaElement>(
        'meta[name="description"], meta[property^="og:"]:not([content^="/"], [content=""])',
      ),
      ({ content, outerHTML }) => (/site_name|og:type/.test(outerHTML) ? '' : content),
    );
    const manifest = JSON.parse(manifestSource) as {
      name: string;
      description: string;
      shortcuts: { name: string }[];
    };
    const texts = [
      ...selected.map((text) => text?.trim().replace(/\s+/g, ' ') ?? ''),
      ...described,
      manifest.name,
      manifest.description,
      ...manifest.shortcuts.map(({ name }) => name),
    ].filter((text) => text !== '');
    expect(Object.keys(documents[`${folder}document.json`]?.texts ?? {}).sort()).toEqual(
      [...new Set(texts)].sort(),
    );
  });
});

describe('Spanish', () => {
  it.each([
    [1, ' enlace'],
    [2, ' enlaces'],
    [1_000_001, ' enlaces'],
    [2_000_000, ' de enlaces'],
  ])('counts %d correctly', (count, end) => {
    expect(counted(count, 'enlace', 'enlaces').replace(/^[\d,]+/, '')).toBe(end);
  });

  it.each([
    [apiKeys.revoke, apiKeys.revokeKey('CI')],
    [past.undo, past.undoOf('3:14')],
    [passkeys.remove, passkeys.removeOf('Linux')],
    [sessions.end, sessions.endOf('Firefox', '3:14')],
  ])('has the visible text %j in the accessible name of its button', (visible, name) => {
    expect(name).toContain(visible);
  });
});
