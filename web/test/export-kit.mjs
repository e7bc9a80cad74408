/**
 * Writes the files of 'Download everything' into a folder:
 *
 *   node test/export-kit.mjs <links.json> <folder> <origin> [--no-pages]
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const [links, folder, origin, noPages] = process.argv.slice(2);
const path = fileURLToPath(new URL('../src/features/export/kit.ts', import.meta.url));
const { module } = await runnerImport(path, { configFile: false });
const kit = new module.Kit(origin);
kit.add(JSON.parse(readFileSync(links, 'utf8')));
for (const { name, input } of kit.files()) {
  if (noPages && name.startsWith('html/')) continue;
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, new Uint8Array(await input.arrayBuffer()));
}
