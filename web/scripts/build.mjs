/**
 * Builds the pages in every language, the documentation of the API, and the service worker, which
 * lists the files of the pages: node scripts/build.mjs
 */
import { readdirSync } from 'node:fs';
import { build } from 'vite';

const translations = readdirSync(new URL('../src/languages', import.meta.url));
// English comes last: the others rename their document.
for (const [index, mode] of [...translations, 'en'].entries()) {
  await build({ mode, logLevel: 'warn', build: { emptyOutDir: index === 0 } });
}
await build({ configFile: 'vite.api.config.ts', logLevel: 'warn' });
await build({ configFile: 'vite.worker.config.ts', logLevel: 'warn' });
