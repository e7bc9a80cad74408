/** Reads codes beside the page, so that typing never waits for it. */
import { readPixels } from './pixels';

export interface Question {
  id: number;
  side: number;
  pixels: ArrayBuffer;
}

/** The first message says that the decoder is there; each later one answers a question. */
export type Message = 'ready' | { id: number; text: string | null };

/** Milliseconds a hard one may take. */
const LIMIT = 1_500;

addEventListener('message', ({ data: { id, side, pixels } }: MessageEvent<Question>) => {
  const text = readPixels(new Uint8ClampedArray(pixels), side, LIMIT);
  postMessage({ id, text } satisfies Message);
});
postMessage('ready' satisfies Message);
