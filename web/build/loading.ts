import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

/** Vite's own name for the function it puts around each import() of a built page. */
const HELPER = '\0vite/preload-helper.js';
const OWN = fileURLToPath(new URL('../src/api/loading.ts', import.meta.url));
/**
 * An import() with the list of its files, as the finished code has it. Of a chunk that others import
 * from, too, it takes one name.
 */
const LISTED =
  /\bimport\(([`"'])\.\/([^`"']+)\1\)(?:\.then\((\w+)=>\3\.\w+\))?\s*,\s*__vite__mapDeps\(/g;

/**
 * Puts src/api/loading.ts in the place of Vite's preload helper, which can load neither a module
 * nor a style sheet a second time. A Vite that does it another way stops the build.
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
        // What is not in the bundle is never asked for.
        for (const file of chunk.dynamicImports.filter((name) => name in bundle)) {
          if (!listed.has(file.replace(/^assets\//, ''))) {
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
