/**
 * Evaluates designs with the page's own code, for measurements outside a browser.
 *
 * Each line of standard input is a JSON object {text, style, logo, size, pixels}: a design and its
 * image (square, RGBA in base64). Each line of output is {verdict}: `well`, what makes readers
 * fail, or what leaves too little margin. Without an image, it is what can be determined without
 * one, or null.
 */
import { createInterface } from 'node:readline';
import { runnerImport } from 'vite';

const load = async (name) => (await runnerImport(`./src/features/qr/${name}.ts`)).module;
const { measure } = await load('margin');
const { SIZE } = await load('drawing');
const { careOf, faultOf } = await load('verdict');

function judged({ size, pixels, logo, ...design }) {
  const drawn = { ...design, logo: logo ?? undefined, size: SIZE };
  const told = (reading) => faultOf(drawn, reading) ?? careOf(drawn, reading);
  if (!pixels) return told({ text: design.text, lost: null });
  return told(measured(Uint8ClampedArray.from(Buffer.from(pixels, 'base64')), size)) ?? 'well';
}

function measured(pixels, size) {
  const steps = measure(pixels, size);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify({ verdict: judged(JSON.parse(line)) }));
}
