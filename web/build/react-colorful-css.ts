import type { Plugin } from 'vite';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const LIBRARY = /react-colorful\/dist\/index(\.module|\.esmodule)?\.m?js$/;
const INJECTION = /if\(!([\w$]+)\.has\(([\w$]+)\)\)\{(.{0,200}?)\.innerHTML='((?:[^'\\]|\\.)*)'/;
const VIRTUAL = 'virtual:react-colorful.css';

/**
 * Vite plugin that makes the style sheet of react-colorful a regular built file.
 *
 * The library writes it into a <style> element, which a policy without 'unsafe-inline' refuses. The
 * plugin turns that off. The build fails if the library works in another way.
 */
export function reactColorfulCss(): Plugin {
  return {
    name: 'atajo:react-colorful-css',
    enforce: 'pre',
    config: () => ({ optimizeDeps: { exclude: ['react-colorful'] } }),
    resolveId: (id) => (id === VIRTUAL ? `\0${VIRTUAL}` : undefined),
    load(id) {
      if (id !== `\0${VIRTUAL}`) return undefined;
      const file = createRequire(import.meta.url).resolve('react-colorful');
      return injected(readFileSync(file, 'utf8'));
    },
    transform(code, id) {
      if (!LIBRARY.test(id)) return undefined;
      injected(code);
      return {
        code: code.replace(INJECTION, (all) => `if(false){${all.slice(all.indexOf('{') + 1)}`),
        map: null,
      };
    },
  };
}

function injected(code: string): string {
  const css = INJECTION.exec(code)?.[4];
  if (!css) throw new Error('react-colorful writes its styles in a way this build does not know');
  return css.replace(/\\(.)/g, '$1');
}
