import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin, type Rolldown } from 'vite';
import { pages } from '../src/lib/edge.ts';
import { stylesOfPages } from './boot-script.ts';
import { DEFAULT } from './language.ts';

/** The pages whose documents show their text before any script. */
const PRERENDERED = ['home', 'shortener', 'qr', 'terms', 'privacy'] as const;
/** What the server replaces by the settings of an installation (gateway/pages/html.py). */
const ORIGIN = 'https://atajo.example';
const CONTACT = 'contact@atajo.example';
const WEB = fileURLToPath(new URL('..', import.meta.url));

/** Vite's tag of the entry. */
const ENTRY = /<script type="module"[^>]* src="([^"]+)"><\/script>/;
/** Matches a class that sets the monospaced font, in a built style sheet. */
const MONOSPACED = /\.([\w-]+)\{[^{}]*font-family:var\(--mono\)/g;

/** Matches a part that an instance may not offer (src/components/Offered.tsx). */
const OFFERED = /<offered-part where="([a-z -]+)">(.*?)<\/offered-part>/gs;

interface Rendered {
  html: string;
  title: string;
  description: string;
  /** The end of the description where links can be created without an account. */
  offer: string;
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
      const index = withLateEntry(sourceOf(bundle, 'index.html'));
      const styles = stylesOfPages(bundle);
      const render = await renderer(tag);
      for (const name of PRERENDERED) {
        const path = pages[name];
        const rendered = await render(path);
        const file = `${path.slice(1) || 'home'}${tag === DEFAULT ? '' : `.${tag}`}.html`;
        const links = [
          ...fontsOf(rendered.html, bundle),
          ...(styles[path] ?? []).map(
            (name) => `<link rel="stylesheet" crossorigin href="/${name}">`,
          ),
        ];
        writeFileSync(join(dir, file), filled(index, path, rendered, links));
      }
    },
  };
}

/** Leaves the entry to src/boot.js, which loads it after the first paint. */
function withLateEntry(index: string): string {
  const [tag, entry] = ENTRY.exec(index) ?? [];
  const boot = '<script src="/assets/boot-';
  if (!tag || !entry || !index.includes(boot)) throw new Error('The document has other scripts');
  return index
    .replace(tag, '')
    .replace(boot, () => boot.replace(' ', ` data-entry="${entry}" `))
    .replaceAll('<link rel="modulepreload"', '$& fetchpriority="low"');
}

/**
 * Returns a link to the monospaced font if the page has text in it. Otherwise browsers fetch the font
 * only once they have the style sheets.
 */
function fontsOf(html: string, bundle: Rolldown.OutputBundle): string[] {
  const names = Object.keys(bundle);
  const sheets = names.filter((name) => name.endsWith('.css'));
  const classes = sheets.flatMap((name) =>
    Array.from(sourceOf(bundle, name).matchAll(MONOSPACED), ([, one = '']) => one),
  );
  const font = names.find((name) => /overpass-mono-latin-.*\.woff2$/.test(name));
  if (classes.length === 0 || !font) throw new Error('The build has no monospaced font');
  return classes.some((name) => html.includes(name))
    ? [`<link rel="preload" href="/${font}" as="font" type="font/woff2" crossorigin>`]
    : [];
}

function sourceOf(bundle: Rolldown.OutputBundle, name: string): string {
  const asset = bundle[name];
  if (asset?.type !== 'asset') throw new Error(`The build has no ${name}`);
  return String(asset.source);
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
  { html, title, description, offer }: Rendered,
  links: string[],
): string {
  const described = escape(description) + (offer && marked('guest-links', ` ${escape(offer)}`));
  return index
    .replace(/<title>[^<]*/, () => `<title>${escape(title)}`)
    .replace(
      /(name="description"\s+content=|property="og:description"\s+content=)"[^"]*"/g,
      (_all, start: string) => `${start}"${described}"`,
    )
    .replace(
      /(property="og:title"\s+content=)"[^"]*"/,
      (_all, start: string) => `${start}"${escape(title)}"`,
    )
    .replace('</head>', () => `${links.join('\n')}</head>`)
    .replace(
      '<div id="root"></div>',
      () => `<div id="root" data-path="${path}">${withMarks(html)}</div>`,
    );
}

/** Marks the parts that an instance may not offer. */
function withMarks(html: string): string {
  return html.replace(OFFERED, (_all, where: string, part: string) => marked(where, part));
}

/**
 * Marks a part for the server, which keeps it only where the instance has these offers, and removes
 * the marks (gateway/pages/html.py, deploy/nginx/start.sh).
 */
function marked(where: string, part: string): string {
  // nginx's start script reads line by line, to the next end.
  if (/\n|<offered-part|<!--if /.test(part)) throw new Error(`A part for ${where} is not plain`);
  return `<!--if ${where}-->${part}<!--fi-->`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
