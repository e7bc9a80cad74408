import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';

const FOLDER = dirname(createRequire(import.meta.url).resolve('react-router/package.json'));
/** Production files: the package.json names only the development files, in every build mode. */
const FILES: Record<string, string> = {
  'react-router': join(FOLDER, 'dist/production/index.mjs'),
  'react-router/dom': join(FOLDER, 'dist/production/dom-export.mjs'),
};
const CHUNK = /react-router\/dist\/production\/chunk-\w+\.mjs$/;
/** Patterns in the production files and their replacements. */
const REPLACEMENTS: [RegExp, string][] = [
  // React's calls have no annotation, so the build cannot know that they have no side effects.
  [/^(var [\w$]+ = )(?=React\d*\.(?:createContext|forwardRef|memo)\()/gm, '$1/* @__PURE__ */ '],
  // Names for debugging: their assignment would keep an unused component.
  [/^[\w$]+\.displayName = "[^"]*";$/gm, ''],
  // The end of Link, which prefetches only with a framework on the server.
  [/return shouldPrefetch && !isAbsolute \? .* : link;/g, 'return link;'],
];

/**
 * Vite plugin that uses the production files of React Router, without its warnings for developers.
 *
 * It also lets the build remove the components that no page uses. The build fails if the code of the
 * library does not match.
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
