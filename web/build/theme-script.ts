import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

const SOURCE = new URL('../src/styles/theme-boot.js', import.meta.url);

/**
 * The remembered theme must be on the document before the first paint, and the content security
 * policy allows no inline script: so it is a tiny classic script of its own, hashed like the rest.
 */
export function themeScript(): Plugin {
  const code = readFileSync(SOURCE, 'utf8');
  const name = `assets/theme-${createHash('sha256').update(code).digest('hex').slice(0, 8)}.js`;
  return {
    name: 'atajo:theme-script',
    configureServer(server) {
      server.middlewares.use(`/${name}`, (_request, response) => {
        response.setHeader('Content-Type', 'text/javascript');
        response.end(code);
      });
    },
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: name, source: code });
    },
    transformIndexHtml: () => [
      { tag: 'script', attrs: { src: `/${name}` }, injectTo: 'head-prepend' },
    ],
  };
}
