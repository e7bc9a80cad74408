import type { Message, Question } from './decoder.worker';
import type { Measured } from './margin';

/** Milliseconds one question may take: a few that wait for each other. */
const DEADLINE = 6_000;

let loading: Promise<Worker> | undefined;
let next = 0;
const waiting = new Map<number, Waiting>();
/** The one that is being measured. */
let measured: number | undefined;

interface Waiting {
  /** Null where a newer question took its place. */
  resolve: (answer: Measured | null) => void;
  reject: (error: Error) => void;
}

/**
 * Loads the decoder, once; after a failure, again. However long that takes, it is on its way until
 * the browser says that it failed.
 */
export function loadDecoder(): Promise<Worker> {
  if (!loading) {
    loading = start();
    loading.catch(() => {
      loading = undefined;
    });
  }
  return loading;
}

function start(): Promise<Worker> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./decoder.worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<Message>) => {
      if (data === 'ready') {
        resolve(worker);
      } else {
        answer(data.id, data);
      }
    });
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      const error = new Error('The decoder did not load');
      reject(error);
      end(worker, error);
    });
  });
}

function answer(id: number | undefined, given: Measured | null): void {
  if (id === undefined) return;
  waiting.get(id)?.resolve(given);
  waiting.delete(id);
}

function end(worker: Worker, error: Error): void {
  worker.terminate();
  loading = undefined;
  for (const { reject } of waiting.values()) reject(error);
  waiting.clear();
}

/**
 * What stands in a picture, or null where nothing can be read. Its pixels are given away. A decoder
 * that does not answer in time is ended, and the next one loaded anew.
 */
export async function readPicture(decoder: Worker, picture: ImageData): Promise<string | null> {
  return (await ask(decoder, 'read', picture))?.text ?? null;
}

/**
 * The same, and what of it is lost under distortions. One picture is measured at a time: null where
 * a newer one came before this one was done.
 */
export function measurePicture(decoder: Worker, picture: ImageData): Promise<Measured | null> {
  answer(measured, null);
  measured = next + 1;
  return ask(decoder, 'measure', picture);
}

function ask(
  decoder: Worker,
  kind: Question['kind'],
  { data, width }: ImageData,
): Promise<Measured | null> {
  const id = (next += 1);
  const pixels = data.buffer;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    setTimeout(() => {
      if (waiting.has(id)) end(decoder, new Error('The decoder did not answer'));
    }, DEADLINE);
    decoder.postMessage({ id, kind, side: width, pixels } satisfies Question, [pixels]);
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
