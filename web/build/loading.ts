import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

/** Vite's name of the helper that it puts around each import() of a built page. */
const HELPER = '\0vite/preload-helper.js';
const OWN = fileURLToPath(new URL('../src/api/loading.ts', import.meta.url));
/**
 * Matches an import() with the list of its files in the built code. If other modules import from
 * the chunk, too, the import() picks one export.
 */
const LISTED =
  /\bimport\(([`"'])\.\/([^`"']+)\1\)(?:\.then\((\w+)=>\3\.\w+\))?\s*,\s*__vite__mapDeps\(/g;

/**
 * Vite plugin that replaces Vite's preload helper by src/api/loading.ts.
 *
 * Vite's helper cannot load a module or a style sheet a second time. The build fails if Vite works
 * in another way.
 */
export function loading(): Plugin {
  return {
    name: 'atajo:loading',
    apply: 'build',
    enforce: 'pre',
    load: (id) =>
      id === HELPER
        ? { code: `export { bring as __vitePreload } from ${JSON.stringify(OWN)};` }
        : undefined,
    writeBundle(_options, bundle) {
      let helped = false;
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        helped ||= chunk.moduleIds.includes(OWN);
        const listed = new Set(Array.from(chunk.code.matchAll(LISTED), ([, , file]) => file));
        // Files outside of the bundle are never requested.
        for (const file of chunk.dynamicImports.filter((name) => name in bundle)) {
          if (!listed.has(basename(file))) {
            throw new Error(
              `${chunk.fileName} imports ${file} without fetching it first. Vite lists no files ` +
                'for a part that has neither styles nor a chunk it shares: let it import one.',
            );
          }
        }
      }
      if (!helped) throw new Error('Vite loads lazy parts in a way this build does not know');
    },
  };
}
