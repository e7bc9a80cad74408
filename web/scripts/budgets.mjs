/** Measures the built files against the product's budgets: node scripts/budgets.mjs [--if-built] */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { gzipSync } from 'node:zlib';

const dist = new URL('../dist/', import.meta.url);
const KB = 1000;
/** Budget of a page that has none of its own below. */
const PAGE_JAVASCRIPT = 45 * KB;
/** What the home page may take more in another language than English. */
const TRANSLATION = 5 * KB;
const budgets = {
  'home JavaScript': 100 * KB,
  'home CSS': 8 * KB,
  fonts: 70 * KB,
  'QR page JavaScript': 60 * KB,
  'link page JavaScript, with statistics': 40 * KB,
  'QR options JavaScript': 25 * KB,
  'QR PDF JavaScript': 150 * KB,
  'QR batch JavaScript': 15 * KB,
  'QR batch worker': 30 * KB,
  'QR scan code JavaScript': 20 * KB,
};
/** Libraries that load after the home page, each with a text that only its code contains. */
const later = {
  axios: 'ERR_NETWORK',
  '@tanstack/react-query': 'No QueryClient set',
  'react-toastify': 'Toastify__',
  bcryptjs: 'Illegal salt',
  'qrcode.react': 'QRCodeCanvas',
  'react-colorful': 'react-colorful__',
};

if (!existsSync(new URL('index.html', dist))) {
  if (process.argv.includes('--if-built')) {
    console.log('budgets: nothing is built, nothing is measured');
    process.exit(0);
  }
  console.error('budgets: nothing is built; run "npm run build" first');
  process.exit(1);
}

const faults = [];
for (const file of readdirSync(dist)) {
  const [, language] = /^index(?:\.(\w+))?\.html$/.exec(file) ?? [null, null];
  if (language !== null) check(file, language);
  const isPage = file.endsWith('.html') && file !== 'api.html';
  if (isPage && /<style|<script(?![^>]* src=)|\son\w+=|\sstyle=/.test(read(file).toString())) {
    faults.push(`${file} has inline script or style`);
  }
}
for (const fault of faults) console.error(`budgets: ${fault}`);
process.exit(faults.length > 0 ? 1 : 0);

/** Compares the files of a document with the budgets. `language` is undefined for English. */
function check(file, language) {
  const html = read(file).toString();
  const found = (pattern) => Array.from(html.matchAll(pattern), ([, path]) => path);
  const scripts = new Set();
  for (const path of found(/<script[^>]* src="([^"]+)"/g)) withImports(path, scripts);
  for (const path of found(/<link rel="modulepreload"[^>]* href="([^"]+)"/g)) scripts.add(path);
  const styles = found(/<link rel="stylesheet"[^>]* href="([^"]+)"/g);
  const measured = measure(scripts, styles, language ? `/assets/${language}/` : '/assets/');

  for (const [name, size] of Object.entries(measured)) {
    const more = language && name === 'home JavaScript' ? TRANSLATION : 0;
    const limit = (budgets[name] ?? PAGE_JAVASCRIPT) + more;
    const line = `${language ? `${language} ` : ''}${name}: ${(size / KB).toFixed(1)} kB of ${limit / KB} kB`;
    console.log(line);
    if (size > limit) faults.push(line);
  }
  const early = [...scripts].map((path) => read(path).toString()).join('\n');
  for (const [name, trace] of Object.entries(later)) {
    if (early.includes(trace)) faults.push(`${name} is loaded with ${file}`);
  }
}

/** Returns the compressed sizes in bytes of all parts, whose scripts are in `folder`. */
function measure(scripts, styles, folder) {
  const assets = readdirSync(new URL(`.${folder}`, dist));
  const fonts = readdirSync(new URL('assets/', dist)).filter((name) => name.endsWith('.woff2'));
  /**
   * Returns the scripts of a part that are not in `before`, by default those of the home page. The
   * QR page's decoder is a worker, which loads later.
   */
  const route = (name, before = scripts) => {
    const chunk = assets.find((one) => one.startsWith(`${name}-`) && one.endsWith('.js'));
    return [...withImports(folder + chunk)].filter((path) => !before.has(path));
  };
  const qrPage = new Set([...scripts, ...route('QrPage')]);
  const qrOptions = new Set([...qrPage, ...route('more', qrPage)]);
  const calls = new Set([...qrPage, ...route('functions')]);
  const homeAndCalls = new Set([...scripts, ...route('functions')]);
  const admission = new Set([...homeAndCalls, ...route('AdminPage')]);
  const pages = assets
    .map((one) => /^(\w+Page)-.*\.js$/.exec(one)?.[1])
    .filter((page) => page && page !== 'QrPage' && page !== 'LinkPage');
  return {
    'home JavaScript': zipped(scripts),
    'home CSS': zipped(styles),
    'QR page JavaScript': zipped(route('QrPage')),
    'link page JavaScript, with statistics': zipped(route('LinkPage')),
    'QR options JavaScript': zipped(route('more', qrPage)),
    'QR PDF JavaScript': zipped(route('worker-pdf')),
    'QR batch JavaScript': zipped(route('BatchPanel', qrOptions)),
    'QR batch worker': zipped(route('batch.worker')),
    'QR scan code JavaScript': zipped(route('asking', calls)),
    'administration JavaScript': zipped(route('AdminTool', admission)),
    fonts: fonts.reduce((sum, name) => sum + statSync(new URL(`assets/${name}`, dist)).size, 0),
    ...Object.fromEntries(
      pages.map((page) => [`${page} JavaScript`, zipped(route(page, homeAndCalls))]),
    ),
  };
}

/** Returns a script and everything it imports before it runs. */
function withImports(path, seen = new Set()) {
  if (seen.has(path)) return seen;
  seen.add(path);
  const code = read(path).toString();
  for (const [, file] of code.matchAll(/(?:from|import)\s*["'](\.\.?\/[^"']+\.js)["']/g)) {
    withImports(posix.join(posix.dirname(path), file), seen);
  }
  return seen;
}

function read(path) {
  return readFileSync(new URL(path.replace(/^\//, ''), dist));
}

function zipped(paths) {
  return [...paths].reduce((sum, path) => sum + gzipSync(read(path)).length, 0);
}
