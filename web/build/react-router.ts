import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';

const FOLDER = dirname(createRequire(import.meta.url).resolve('react-router/package.json'));
/** Its package.json names the development files only, whatever the mode of the build. */
const FILES: Record<string, string> = {
  'react-router': join(FOLDER, 'dist/production/index.mjs'),
  'react-router/dom': join(FOLDER, 'dist/production/dom-export.mjs'),
};
const CHUNK = /react-router\/dist\/production\/chunk-\w+\.mjs$/;
/** What is replaced, by what. */
const REPLACEMENTS: [RegExp, string][] = [
  // React's calls have no annotation, so the build cannot know that they have no side effects.
  [/^(var [\w$]+ = )(?=React\d*\.(?:createContext|forwardRef|memo)\()/gm, '$1/* @__PURE__ */ '],
  // Names for debugging, whose assignment keeps the component.
  [/^[\w$]+\.displayName = "[^"]*";$/gm, ''],
  // The end of Link. What it prefetches exists only with a framework on the server.
  [/return shouldPrefetch && !isAbsolute \? .* : link;/g, 'return link;'],
];

/**
 * Takes React Router's production files, without its warnings for developers, and lets the build
 * leave out the components that no page uses. A version of the library that is written another way
 * stops the build.
 */
export function reactRouter(): Plugin {
  const found = new Set<RegExp>();
  return {
    name: 'atajo:react-router',
    apply: 'build',
    enforce: 'pre',
    resolveId: (name) => {
      const id = FILES[name];
      return id === undefined ? undefined : { id, moduleSideEffects: false };
    },
    transform(code, id) {
      if (!CHUNK.test(id)) return undefined;
      let replaced = code;
      for (const [pattern, by] of REPLACEMENTS) {
        const before = replaced;
        replaced = before.replace(pattern, by);
        if (replaced !== before) found.add(pattern);
      }
      return { code: replaced, map: null };
    },
    generateBundle() {
      const missing = REPLACEMENTS.filter(([pattern]) => !found.has(pattern));
      if (missing.length > 0) {
        throw new Error(
          `React Router is written in a way this build does not know: ${missing.join(' ')}`,
        );
      }
    },
  };
}
