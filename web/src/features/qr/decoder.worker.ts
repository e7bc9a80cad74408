/** Reads codes beside the page, so that typing never waits for it. */
import { measure, type Measured } from './margin';
import { readPixels } from './pixels';
import { REHEARSED, rehearsed } from './rehearsal';

export interface Question {
  id: number;
  /** Whether it is to be read once, or its margin measured. Of the latter the newest alone counts. */
  kind: 'read' | 'measure';
  side: number;
  pixels: ArrayBuffer;
}

/** The first message says that the decoder is there; each later one answers a question. */
export type Message = 'ready' | ({ id: number } & Measured);

/** Milliseconds a hard one may take. */
const LIMIT = 1_500;

/** What is being measured: at first something that nobody asked for and nobody is told of. */
let current: { id: number | null; steps: ReturnType<typeof measure> } | undefined = {
  id: null,
  steps: measure(rehearsed(), REHEARSED),
};
/** Between two steps, what has come meanwhile has its turn. */
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
    const text = readPixels(picture, side, LIMIT);
    postMessage({ id, text, lost: null } satisfies Message);
    return;
  }
  const underWay = current !== undefined;
  current = { id, steps: measure(picture, side) };
  if (!underWay) next.postMessage(null);
});
postMessage('ready' satisfies Message);
next.postMessage(null);
