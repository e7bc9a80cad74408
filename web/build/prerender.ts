import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'vite';
import { pages } from '../src/lib/edge.ts';
import { stylesOfPages } from './boot-script.ts';
import { DEFAULT } from './language.ts';

/** The pages whose documents show their text before any script. */
const PRERENDERED = ['home', 'shortener', 'qr', 'terms', 'privacy'] as const;
/** What the server replaces by the settings of an installation (gateway/pages/html.py). */
const ORIGIN = 'https://atajo.example';
const CONTACT = 'contact@atajo.example';
const WEB = fileURLToPath(new URL('..', import.meta.url));

interface Rendered {
  html: string;
  title: string;
  description: string;
}

/**
 * Vite plugin that writes a document of its own for each public page: short-link.html for the path
 * /short-link, and short-link.es.html in Spanish.
 *
 * The code of the pages is built again for Node.js. It has no document and no storage, so each page
 * looks as it does to a new visitor.
 */
export function prerender(tag: string): Plugin {
  return {
    name: 'atajo:prerender',
    async writeBundle({ dir = '' }, bundle) {
      const index = bundle['index.html'];
      if (index?.type !== 'asset') throw new Error('The build has no document');
      const styles = stylesOfPages(bundle);
      const render = await renderer(tag);
      for (const name of PRERENDERED) {
        const path = pages[name];
        const rendered = await render(path);
        const file = `${path.slice(1) || 'home'}${tag === DEFAULT ? '' : `.${tag}`}.html`;
        writeFileSync(
          join(dir, file),
          filled(String(index.source), path, rendered, styles[path] ?? []),
        );
      }
    },
  };
}

/** Builds and loads src/prerender.tsx. */
async function renderer(tag: string): Promise<(path: string) => Promise<Rendered>> {
  const outDir = join(WEB, 'node_modules/.cache/prerender', tag);
  await build({
    root: WEB,
    mode: tag,
    logLevel: 'warn',
    build: {
      ssr: 'src/prerender.tsx',
      outDir,
      emptyOutDir: true,
      copyPublicDir: false,
      rolldownOptions: { output: { entryFileNames: 'prerender.js' } },
    },
  });
  Object.assign(globalThis, {
    addEventListener: () => undefined,
    location: new URL(ORIGIN),
    document: {
      querySelector: (selector: string) =>
        selector.includes('atajo-contact') ? { content: CONTACT } : null,
    },
  });
  const { prerender: render } = (await import(
    pathToFileURL(join(outDir, 'prerender.js')).href
  )) as { prerender: (path: string) => Promise<Rendered> };
  return render;
}

function filled(
  index: string,
  path: string,
  { html, title, description }: Rendered,
  styles: string[],
): string {
  const links = styles.map((file) => `<link rel="stylesheet" crossorigin href="/${file}">`);
  return index
    .replace(/<title>[^<]*/, () => `<title>${escape(title)}`)
    .replace(
      /(name="description"\s+content=|property="og:description"\s+content=)"[^"]*"/g,
      (_all, start: string) => `${start}"${escape(description)}"`,
    )
    .replace(
      /(property="og:title"\s+content=)"[^"]*"/,
      (_all, start: string) => `${start}"${escape(title)}"`,
    )
    .replace('</head>', () => `${links.join('\n')}</head>`)
    .replace('<div id="root"></div>', () => `<div id="root" data-path="${path}">${html}</div>`);
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
