import type { Answer, Question } from './decoder.worker';

/** Milliseconds after which a check counts as not made. */
const PATIENCE = 6_000;

let worker: Worker | undefined;
let next = 0;
const waiting = new Map<number, PromiseWithResolvers<string | null>>();

interface PromiseWithResolvers<T> {
  resolve: (value: T) => void;
  reject: (error: Error) => void;
}

/** Loads the decoder, once; after a failure, again. */
export function loadDecoder(): Worker {
  if (worker) return worker;
  const fresh = new Worker(new URL('./decoder.worker.ts', import.meta.url), { type: 'module' });
  fresh.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
    waiting.get(data.id)?.resolve(data.text);
    waiting.delete(data.id);
  });
  fresh.addEventListener('error', (event) => {
    event.preventDefault();
    fresh.terminate();
    worker = undefined;
    for (const { reject } of waiting.values()) reject(new Error('The decoder did not load'));
    waiting.clear();
  });
  worker = fresh;
  return fresh;
}

/** What stands in a picture, or null where nothing can be read. Rejects without a decoder. */
export async function readPicture({ data, width }: ImageData): Promise<string | null> {
  const decoder = loadDecoder();
  const id = (next += 1);
  const pixels = data.buffer;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    setTimeout(() => {
      if (waiting.delete(id)) reject(new Error('The decoder did not answer'));
    }, PATIENCE);
    decoder.postMessage({ id, side: width, pixels } satisfies Question, [pixels]);
  });
}

/** A picture in the middle of a white sheet, as pixels. */
export function framed(picture: CanvasImageSource, side: number): ImageData {
  const frame = side / 10;
  const sheet = document.createElement('canvas');
  sheet.width = sheet.height = side + 2 * frame;
  const pen = sheet.getContext('2d', { willReadFrequently: true });
  if (!pen) throw new Error('Nothing can be drawn');
  pen.fillStyle = 'white';
  pen.fillRect(0, 0, sheet.width, sheet.height);
  pen.drawImage(picture, frame, frame, side, side);
  return pen.getImageData(0, 0, sheet.width, sheet.height);
}

/** The picture in a file. */
export async function pictureOf(file: Blob): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = URL.createObjectURL(file);
  try {
    await image.decode();
    return image;
  } finally {
    URL.revokeObjectURL(image.src);
  }
}
