import decodeQR from 'qr/decode.js';
import type { Grey } from './distort';

// The page writes UTF-8, and a mark of byte order is a character like any other.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const textDecoder = (bytes: Uint8Array) => utf8.decode(bytes);

/** What stands in a square picture (RGBA), or null; a hard one is tried for `limit` milliseconds. */
export function readPixels(pixels: Uint8ClampedArray, side: number, limit: number): string | null {
  try {
    return decodeQR({ data: pixels, width: side, height: side }, { timeLimit: limit, textDecoder });
  } catch {
    return null;
  }
}

/** The same of a picture in shades of grey, which is what a decoder makes of any other first. */
export function readGrey({ shades, side }: Grey): string | null {
  try {
    // The plane of brightness is all of I420 that it looks at.
    const picture = { data: shades, width: side, height: side };
    return decodeQR(picture, { format: 'I420', textDecoder });
  } catch {
    return null;
  }
}
