import { existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

export const DEFAULT = 'en';
const SRC = fileURLToPath(new URL('../src/', import.meta.url));
const TRANSLATIONS = join(SRC, 'languages/');
const MANIFEST = 'manifest.webmanifest';
const PUBLIC_MANIFEST = fileURLToPath(new URL(`../public/${MANIFEST}`, import.meta.url));
const NAMES = 'virtual:languages';

interface DocumentTexts {
  /** Name of the language in the language itself. */
  name: string;
  /** Translations of the texts of index.html and of the manifest. */
  texts: Record<string, string>;
}

/** Returns the tags of all languages, the default first. */
export function languages(): string[] {
  return [DEFAULT, ...readdirSync(TRANSLATIONS)];
}

/** Returns the name of the document in a language. */
export function indexOf(tag: string): string {
  return tag === DEFAULT ? 'index.html' : `index.${tag}.html`;
}

/**
 * Vite plugin that builds the pages in one language.
 *
 * A module src/x is replaced by src/languages/<tag>/x if there is one. The document is written as
 * index.<tag>.html, and the manifest as manifest.<tag>.webmanifest. English is what src has itself.
 */
export function language(tag: string): Plugin {
  const isDefault = tag === DEFAULT;
  const texts = isDefault ? {} : textsOf(tag).texts;
  const manifest = MANIFEST.replace('.', `.${tag}.`);
  const names = `\0${NAMES}`;
  return {
    name: 'atajo:language',
    enforce: 'pre',
    async resolveId(source, importer, options) {
      if (source === NAMES) return names;
      if (isDefault || !importer?.startsWith(SRC) || importer.startsWith(TRANSLATIONS)) return null;
      const found = await this.resolve(source, importer, { ...options, skipSelf: true });
      if (!found?.id.startsWith(SRC)) return found;
      const translated = join(TRANSLATIONS, tag, found.id.slice(SRC.length));
      return existsSync(translated) ? translated : found;
    },
    load: (id) =>
      id === names
        ? `export default ${JSON.stringify(languages().map((each) => [each, nameOf(each)]))};`
        : undefined,
    transformIndexHtml: {
      order: 'post',
      handler: (html) =>
        isDefault
          ? html
          : translate(html, texts)
              .replace('<html lang="en"', `<html lang="${tag}"`)
              .replace(`"/${MANIFEST}"`, `"/${manifest}"`),
    },
    generateBundle: {
      // Vite adds the document before.
      order: 'post',
      handler(_options, bundle) {
        if (isDefault || !('index.html' in bundle)) return;
        const source = translate(readFileSync(PUBLIC_MANIFEST, 'utf8'), texts);
        this.emitFile({
          type: 'asset',
          fileName: manifest,
          source: source.replace('"lang": "en"', `"lang": "${tag}"`),
        });
      },
    },
    writeBundle({ dir = '' }, bundle) {
      if (!isDefault && 'index.html' in bundle)
        renameSync(join(dir, 'index.html'), join(dir, indexOf(tag)));
    },
  };
}

function textsOf(tag: string): DocumentTexts {
  return JSON.parse(
    readFileSync(join(TRANSLATIONS, tag, 'document.json'), 'utf8'),
  ) as DocumentTexts;
}

function nameOf(tag: string): string {
  return tag === DEFAULT ? 'English' : textsOf(tag).name;
}

/** Replaces texts that are whole attributes, elements or JSON strings, however they are wrapped. */
function translate(source: string, texts: Record<string, string>): string {
  return Object.entries(texts).reduce((text, [english, translation]) => {
    const words = english.split(' ').map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    const whole = new RegExp(`(?<=[">]\\s*)${words.join('\\s+')}(?=\\s*["<])`, 'g');
    return text.replace(whole, () => translation);
  }, source);
}
