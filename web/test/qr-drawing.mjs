/**
 * Draws designs with the page's own code, for measurements outside a browser.
 *
 * Each line of standard input is a JSON object {text, style, logo} (a design). Each line of output
 * is its drawing.
 */
import { createInterface } from 'node:readline';
import { runnerImport } from 'vite';

const { module } = await runnerImport('./src/features/qr/drawing.ts');

for await (const line of createInterface({ input: process.stdin })) {
  const { logo, ...design } = JSON.parse(line);
  console.log(JSON.stringify(module.drawDesign({ ...design, logo: logo ?? undefined })));
}
