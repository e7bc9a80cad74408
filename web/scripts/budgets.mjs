/** Measures the built files against the product's budgets: node scripts/budgets.mjs [--if-built] */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const dist = new URL('../dist/', import.meta.url);
const KB = 1000;
/** Budget of a page that has none of its own below. */
const PAGE_JAVASCRIPT = 45 * KB;
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

if (!existsSync(new URL('index.html', dist))) {
  if (process.argv.includes('--if-built')) {
    console.log('budgets: nothing is built, nothing is measured');
    process.exit(0);
  }
  console.error('budgets: nothing is built; run "npm run build" first');
  process.exit(1);
}

const read = (path) => readFileSync(new URL(path.replace(/^\//, ''), dist));
const html = read('index.html').toString();
const found = (pattern) => Array.from(html.matchAll(pattern), ([, path]) => path);

/** Returns a script and everything it imports before it runs. */
function withImports(path, seen = new Set()) {
  if (seen.has(path)) return seen;
  seen.add(path);
  const code = read(path).toString();
  for (const [, file] of code.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)) {
    withImports(`/assets/${file}`, seen);
  }
  return seen;
}

const scripts = new Set();
for (const path of found(/<script[^>]* src="([^"]+)"/g)) withImports(path, scripts);
for (const path of found(/<link rel="modulepreload"[^>]* href="([^"]+)"/g)) scripts.add(path);
const styles = found(/<link rel="stylesheet"[^>]* href="([^"]+)"/g);
const assets = readdirSync(new URL('assets/', dist));
const fonts = assets.filter((name) => name.endsWith('.woff2'));
/**
 * Returns the scripts of a part that are not in `before`, by default those of the home page. The QR
 * page's decoder is a worker, which loads later.
 */
const route = (name, before = scripts) => {
  const chunk = assets.find((file) => file.startsWith(`${name}-`) && file.endsWith('.js'));
  return [...withImports(`/assets/${chunk}`)].filter((path) => !before.has(path));
};
const qrPage = new Set([...scripts, ...route('QrPage')]);
const qrOptions = new Set([...qrPage, ...route('more', qrPage)]);
const calls = new Set([...qrPage, ...route('functions')]);

const zipped = (paths) => [...paths].reduce((sum, path) => sum + gzipSync(read(path)).length, 0);
const measured = {
  'home JavaScript': zipped(scripts),
  'home CSS': zipped(styles),
  'QR page JavaScript': zipped(route('QrPage')),
  'link page JavaScript, with statistics': zipped(route('LinkPage')),
  'QR options JavaScript': zipped(route('more', qrPage)),
  'QR PDF JavaScript': zipped(route('worker-pdf')),
  'QR batch JavaScript': zipped(route('BatchPanel', qrOptions)),
  'QR batch worker': zipped(route('batch.worker')),
  'QR scan code JavaScript': zipped(route('asking', calls)),
  fonts: fonts.reduce((sum, name) => sum + statSync(new URL(`assets/${name}`, dist)).size, 0),
};

const homeAndCalls = new Set([...scripts, ...route('functions')]);
for (const file of assets) {
  const [, page] = /^(\w+Page)-.*\.js$/.exec(file) ?? [];
  if (!page || page === 'QrPage' || page === 'LinkPage') continue;
  budgets[`${page} JavaScript`] = PAGE_JAVASCRIPT;
  measured[`${page} JavaScript`] = zipped(route(page, homeAndCalls));
}

const faults = [];
for (const [name, limit] of Object.entries(budgets)) {
  const size = measured[name];
  const line = `${name}: ${(size / KB).toFixed(1)} kB of ${limit / KB} kB`;
  console.log(line);
  if (size > limit) faults.push(line);
}

const early = [...scripts].map((path) => read(path).toString()).join('\n');
const later = {
  axios: 'ERR_NETWORK',
  '@tanstack/react-query': 'No QueryClient set',
  'react-toastify': 'Toastify__',
  bcryptjs: 'Illegal salt',
  'qrcode.react': 'QRCodeCanvas',
  'react-colorful': 'react-colorful__',
};
for (const [name, trace] of Object.entries(later)) {
  if (early.includes(trace)) faults.push(`${name} is loaded with the home page`);
}
if (/<style|<script(?![^>]* src=)|\son\w+=|\sstyle=/.test(html)) {
  faults.push('the document has inline script or style');
}

for (const fault of faults) console.error(`budgets: ${fault}`);
process.exit(faults.length > 0 ? 1 : 0);
