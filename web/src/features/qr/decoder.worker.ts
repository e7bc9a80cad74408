/** Reads codes beside the page, so that typing never waits for it. */
import decodeQR from 'qr/decode.js';

export interface Question {
  id: number;
  side: number;
  pixels: ArrayBuffer;
}

/** The first message says that the decoder is there; each later one answers a question. */
export type Message = 'ready' | { id: number; text: string | null };

/** Milliseconds a hard one may take. */
const LIMIT = 1_500;

// The page writes UTF-8, and a mark of byte order is a character like any other.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

function read({ side, pixels }: Question): string | null {
  try {
    return decodeQR(
      { data: new Uint8ClampedArray(pixels), width: side, height: side },
      { timeLimit: LIMIT, textDecoder: (bytes) => utf8.decode(bytes) },
    );
  } catch {
    return null;
  }
}

addEventListener('message', ({ data }: MessageEvent<Question>) => {
  postMessage({ id: data.id, text: read(data) } satisfies Message);
});
postMessage('ready' satisfies Message);
