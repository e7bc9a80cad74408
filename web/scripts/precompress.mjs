/**
 * Writes .gz and .br files for every built text file that they make smaller.
 *
 * Skips the document, because the server writes settings into it when it starts.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const dist = new URL('../dist/', import.meta.url);
const TEXT = /\.(?:js|css|svg|webmanifest|json|txt|xml|ico)$/;

for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (!TEXT.test(path)) continue;
  const plain = readFileSync(new URL(path, dist));
  const packed = {
    gz: gzipSync(plain, { level: 9 }),
    br: brotliCompressSync(plain, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
      },
    }),
  };
  for (const [ending, bytes] of Object.entries(packed)) {
    if (bytes.length < plain.length) writeFileSync(new URL(`${path}.${ending}`, dist), bytes);
  }
}
