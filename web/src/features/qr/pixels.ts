import decodeQR from 'qr/decode.js';
import type { Grey } from './distort';

// The page writes UTF-8. A byte order mark is part of the text.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const textDecoder = (bytes: Uint8Array) => utf8.decode(bytes);

/** Decodes a square RGBA picture within `limit` milliseconds; null if nothing can be read. */
export function readPixels(pixels: Uint8ClampedArray, side: number, limit: number): string | null {
  try {
    return decodeQR({ data: pixels, width: side, height: side }, { timeLimit: limit, textDecoder });
  } catch {
    return null;
  }
}

/** Decodes a grayscale picture, to which decoders convert any other one; null if it fails. */
export function readGrey({ shades, side }: Grey): string | null {
  try {
    // The decoder uses only the luma plane of I420.
    const picture = { data: shades, width: side, height: side };
    return decodeQR(picture, { format: 'I420', textDecoder });
  } catch {
    return null;
  }
}
