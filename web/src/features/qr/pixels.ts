import decodeQR from 'qr/decode.js';

// The page writes UTF-8, and a mark of byte order is a character like any other.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** What stands in a square picture (RGBA), or null; a hard one is tried for `limit` milliseconds. */
export function readPixels(pixels: Uint8ClampedArray, side: number, limit: number): string | null {
  try {
    return decodeQR(
      { data: pixels, width: side, height: side },
      { timeLimit: limit, textDecoder: (bytes) => utf8.decode(bytes) },
    );
  } catch {
    return null;
  }
}
