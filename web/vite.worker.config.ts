/** Builds the service workers into the folder of the pages, with the files that they keep. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vite';
import { DEFAULT, indexOf, languages } from './build/language.ts';

const DIST = new URL('dist/', import.meta.url);
const KEPT = /\.(?:js|css|wasm|woff2)$/;

const read = (path: string) => readFileSync(new URL(path, DIST), 'utf8');
const filesIn = (folder: string) =>
  readdirSync(new URL(`.${folder}`, DIST))
    .filter((name) => KEPT.test(name))
    .map((name) => folder + name);
const referenced = (html: string) =>
  Array.from(read(html).matchAll(/"(\/assets\/[^"]+)"/g), ([, path]) => path ?? '');

/** Returns what a browser keeps of a language. The documentation of the API is not part of it. */
function kept(tag: string): { files: string[]; version: string } {
  const document = indexOf(tag);
  const own = referenced(document);
  const others = languages()
    .filter((other) => other !== tag)
    .flatMap((other) => referenced(indexOf(other)));
  const apart = new Set(
    [...referenced('api.html'), ...others].filter((path) => !own.includes(path)),
  );
  const scripts = tag === DEFAULT ? [] : filesIn(`/assets/${tag}/`);
  const shared = filesIn('/assets/').filter((path) => tag === DEFAULT || !isScript(path));
  return {
    files: [...new Set([...own, ...scripts, ...shared])].filter((path) => !apart.has(path)),
    version: createHash('sha256').update(read(document)).digest('hex').slice(0, 8),
  };
}

function isScript(path: string): boolean {
  return path.endsWith('.js');
}

export default defineConfig({
  publicDir: false,
  define: {
    PRECACHED: JSON.stringify(Object.fromEntries(languages().map((tag) => [tag, kept(tag)]))),
    'process.env.NODE_ENV': '"production"',
  },
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    rolldownOptions: {
      input: { sw: 'src/serviceWorker/on.ts', 'sw-off': 'src/serviceWorker/off.ts' },
      output: { entryFileNames: '[name].js' },
    },
  },
});
