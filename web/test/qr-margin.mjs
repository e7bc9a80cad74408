/**
 * Measures margins with the page's own code, for measurements outside a browser: each line of
 * standard input is a JSON object {size, pixels}, the pixels being RGBA in base64 of a square
 * picture; each line of output what was read in it, and the distortion in which it was lost or null.
 */
import { createInterface } from 'node:readline';
import { runnerImport } from 'vite';

const { module } = await runnerImport('./src/features/qr/margin.ts');

for await (const line of createInterface({ input: process.stdin })) {
  const { size, pixels } = JSON.parse(line);
  const steps = module.measure(Uint8ClampedArray.from(Buffer.from(pixels, 'base64')), size);
  let step = steps.next();
  while (!step.done) step = steps.next();
  console.log(JSON.stringify(step.value));
}
