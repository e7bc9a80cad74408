/** Fails if modules of src import each other in a cycle, including types and import(). */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

const src = resolve(import.meta.dirname, '../src');
const imports = new Map();

function importsOf(path) {
  const { importedFiles } = ts.preProcessFile(readFileSync(path, 'utf8'));
  return importedFiles
    .map(({ fileName }) => join(dirname(path), fileName))
    .flatMap((base) => [`${base}.ts`, `${base}.tsx`, `${base}/index.ts`].filter(existsSync));
}

for (const name of readdirSync(src, { recursive: true })) {
  if (/\.tsx?$/.test(name)) imports.set(join(src, name), importsOf(join(src, name)));
}

const done = new Set();
const found = [];

/** Depth-first search; `path` are the modules that lead to this one. */
function visit(module, path) {
  const at = path.indexOf(module);
  if (at !== -1) found.push([...path.slice(at), module]);
  if (at !== -1 || done.has(module)) return;
  for (const next of imports.get(module) ?? []) visit(next, [...path, module]);
  done.add(module);
}

for (const module of imports.keys()) visit(module, []);
for (const circle of found) {
  console.error(`import cycle: ${circle.map((path) => relative(src, path)).join(' -> ')}`);
}
process.exit(found.length > 0 ? 1 : 0);
