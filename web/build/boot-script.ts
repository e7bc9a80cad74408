import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { minifySync, type Plugin, type Rolldown } from 'vite';
import { pages } from '../src/lib/edge.ts';

const SOURCE = new URL('../src/boot.js', import.meta.url);
type Files = Record<string, Rolldown.OutputChunk | Rolldown.OutputAsset>;

/**
 * Vite plugin that builds src/boot.js, which must run before the first paint or as early as
 * possible.
 *
 * It is written into a hashed file, because the content security policy allows no inline script.
 * With `prefetch`, it fetches the files of the page that is opened.
 */
export function bootScript({ prefetch = true } = {}): Plugin {
  let name = '';
  let code = script({});
  return {
    name: 'atajo:boot-script',
    configureServer(server) {
      server.middlewares.use('/boot.js', (_request, response) => {
        response.setHeader('Content-Type', 'text/javascript');
        response.end(code);
      });
    },
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle }) {
        if (bundle) {
          code = script(prefetch ? filesOfPages(bundle) : {});
          name = `assets/boot-${createHash('sha256').update(code).digest('hex').slice(0, 8)}.js`;
        }
        return [
          { tag: 'script', attrs: { src: `/${name || 'boot.js'}` }, injectTo: 'head-prepend' },
        ];
      },
    },
    writeBundle({ dir = '' }) {
      writeFileSync(join(dir, name), code);
    },
  };
}

function script(files: Record<string, string[]>): string {
  const source = readFileSync(SOURCE, 'utf8');
  return minifySync('boot.js', `(function (FILES) {\n${source}})(${JSON.stringify(files)});`).code;
}

/**
 * Returns the files of each page that the document does not name, by the path of the page. The page
 * `qr` is QrPage.tsx.
 */
function filesOfPages(bundle: Files): Record<string, string[]> {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
  const entry = chunks.find((chunk) => chunk.isEntry);
  if (!entry) throw new Error('The build has no entry');
  const early = filesOf(entry, bundle);
  const found: [string, string[]][] = [];
  for (const [name, path] of Object.entries(pages)) {
    const file = `/src/pages/${name[0]?.toUpperCase()}${name.slice(1)}Page.tsx`;
    const chunk = chunks.find((one) => one.facadeModuleId?.endsWith(file));
    if (!chunk) continue; // The page loads with the document.
    const own = [...filesOf(chunk, bundle)].filter((one) => !early.has(one));
    found.push([path, own.map((one) => `/${one}`)]);
  }
  if (found.length === 0) throw new Error('No page has a chunk that this build knows');
  return Object.fromEntries(found);
}

/** Returns the style sheets of each page that the document does not name, by the path of the page. */
export function stylesOfPages(bundle: Files): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(filesOfPages(bundle)).map(([path, files]) => [
      path,
      files.filter((file) => file.endsWith('.css')).map((file) => file.slice(1)),
    ]),
  );
}

/** Returns a chunk, its imports and their style sheets. */
function filesOf(
  chunk: Rolldown.OutputChunk,
  bundle: Files,
  seen = new Set<string>(),
): Set<string> {
  if (seen.has(chunk.fileName)) return seen;
  seen.add(chunk.fileName);
  for (const sheet of chunk.viteMetadata?.importedCss ?? []) seen.add(sheet);
  for (const name of chunk.imports) {
    const imported = bundle[name];
    if (imported?.type === 'chunk') filesOf(imported, bundle, seen);
  }
  return seen;
}
