/**
 * Reads with decoders written in JavaScript, for measurements outside a browser: each line of
 * standard input is a JSON object {reader: "jsqr" | "qr", size, pixels}, the pixels being RGBA in
 * base64 of a square picture; each line of output what was read, or null.
 */
import { createInterface } from 'node:readline';
import jsqr from 'jsqr';
import decodeQR from 'qr/decode.js';

const readers = {
  jsqr: (data, size) => jsqr(data, size, size)?.data ?? null,
  qr: (data, size) => {
    try {
      return decodeQR({ data, width: size, height: size }, { timeLimit: 1_000 });
    } catch {
      return null;
    }
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { reader, size, pixels } = JSON.parse(line);
  const data = Uint8ClampedArray.from(Buffer.from(pixels, 'base64'));
  console.log(JSON.stringify(readers[reader](data, size)));
}
