/**
 * Reads images with decoders that run in Node, for measurements outside a browser.
 *
 * Each line of standard input is a JSON object {readers, side, shades}: the names of decoders, and
 * a square image with one byte per pixel in base64. Or it is {reader, size, pixels}: one name, and
 * RGBA. Each line of output is what each decoder read, or null.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { scanGrayBuffer, ZBarConfigType, ZBarScanner, ZBarSymbolType } from '@undecaf/zbar-wasm';
import jsqr from 'jsqr';
import decodeQR from 'qr/decode.js';

// Its package refers to an ES module that it does not contain.
const require = createRequire(import.meta.url);
const { Quirc } = require('quirc');

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const zbar = await scannerOfCodes();
const quirc = await quircOfWasm();

const readers = {
  // Its data is text in UTF-8, converted from the encoding that the code names or that ZBar guesses.
  ZBar: async (shades, side) => {
    const [found] = await scanGrayBuffer(shades.buffer, side, side, zbar);
    return found ? utf8.decode(Uint8Array.from(found.data)) : null;
  },
  quirc: (shades, side) => {
    const found = quirc.decode(shades, side, side).find(({ data }) => data);
    return found ? utf8.decode(found.data.payload) : null;
  },
  jsQR: (shades, side) => jsqr(rgbaOf(shades), side, side)?.data ?? null,
};

const readersOfColors = {
  jsqr: (data, size) => jsqr(data, size, size)?.data ?? null,
  qr: (data, size) => {
    try {
      return decodeQR({ data, width: size, height: size }, { timeLimit: 1_000 });
    } catch {
      return null;
    }
  },
};

/** Creates a ZBar scanner without the bar codes that it also scans by default. */
async function scannerOfCodes() {
  const scanner = await ZBarScanner.create();
  const { ZBAR_NONE, ZBAR_QRCODE } = ZBarSymbolType;
  scanner.setConfig(ZBAR_NONE, ZBarConfigType.ZBAR_CFG_ENABLE, 0);
  scanner.setConfig(ZBAR_QRCODE, ZBarConfigType.ZBAR_CFG_ENABLE, 1);
  return scanner;
}

async function quircOfWasm() {
  const file = require.resolve('quirc').replace('cjs/index.js', 'libquirc.wasm');
  const { instance } = await WebAssembly.instantiate(readFileSync(file));
  return new Quirc(instance);
}

function rgbaOf(shades) {
  const pixels = new Uint8ClampedArray(4 * shades.length).fill(255);
  for (let at = 0; at < shades.length; at += 1) {
    pixels.fill(shades[at], 4 * at, 4 * at + 3);
  }
  return pixels;
}

async function answer({ readers: names, side, shades, reader, size, pixels }) {
  if (reader) {
    return readersOfColors[reader](Uint8ClampedArray.from(Buffer.from(pixels, 'base64')), size);
  }
  const picture = Uint8Array.from(Buffer.from(shades, 'base64'));
  return Promise.all(names.map((name) => readers[name](picture, side)));
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line))));
}
