/** Decodes QR codes in a worker, so that typing is never blocked. */
import { measure, type Measurement } from './margin';
import { readPixels } from './pixels';
import { REHEARSED, rehearsed } from './rehearsal';

export interface Question {
  id: number;
  /** Read the picture once, or measure its margin. A new measurement replaces a running one. */
  kind: 'read' | 'measure';
  side: number;
  pixels: ArrayBuffer;
}

/** The first message says that the decoder is ready; each later one answers a question. */
export type Message = 'ready' | ({ id: number } & Measurement);

/** Time limit for decoding a difficult picture. */
const TIME_LIMIT_MS = 1_500;

/** The running measurement. The first one is a warm-up, whose result is not sent (rehearsal.ts). */
let current: { id: number | null; steps: ReturnType<typeof measure> } | undefined = {
  id: null,
  steps: measure(rehearsed(), REHEARSED),
};
/** Runs each step as a separate task, so that messages are handled between steps. */
const { port1: turns, port2: next } = new MessageChannel();

turns.addEventListener('message', () => {
  if (!current) return;
  const step = current.steps.next();
  if (!step.done) {
    next.postMessage(null);
    return;
  }
  const { id } = current;
  if (id !== null) postMessage({ id, ...step.value } satisfies Message);
  current = undefined;
});
turns.start();

addEventListener('message', ({ data: { id, kind, side, pixels } }: MessageEvent<Question>) => {
  const picture = new Uint8ClampedArray(pixels);
  if (kind === 'read') {
    const text = readPixels(picture, side, TIME_LIMIT_MS);
    postMessage({ id, text, lost: null } satisfies Message);
    return;
  }
  const underWay = current !== undefined;
  current = { id, steps: measure(picture, side) };
  if (!underWay) next.postMessage(null);
});
postMessage('ready' satisfies Message);
next.postMessage(null);
