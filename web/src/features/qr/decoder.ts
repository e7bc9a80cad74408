import type { Message, Question } from './decoder.worker';
import type { Measurement } from './margin';

/** Time limit of a question, including the ones that are queued before it. */
const TIMEOUT_MS = 6_000;

let loading: Promise<Worker> | undefined;
let next = 0;
const pending = new Map<number, PendingQuestion>();
/** The id of the running measurement. */
let measuring: number | undefined;

interface PendingQuestion {
  /** Called with null if a newer question replaced this one. */
  resolve: (answer: Measurement | null) => void;
  reject: (error: Error) => void;
}

/**
 * Loads the decoder once, and again after a failure. Has no timeout: rejects only if the browser
 * reports a failure.
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

function answer(id: number | undefined, given: Measurement | null): void {
  if (id === undefined) return;
  pending.get(id)?.resolve(given);
  pending.delete(id);
}

function end(worker: Worker, error: Error): void {
  worker.terminate();
  loading = undefined;
  for (const { reject } of pending.values()) reject(error);
  pending.clear();
}

/**
 * Reads a picture; returns null if nothing can be read. Transfers the pixels to the decoder. If the
 * decoder does not answer in time, terminates it and rejects; `loadDecoder` then loads a new one.
 */
export async function readPicture(decoder: Worker, picture: ImageData): Promise<string | null> {
  return (await ask(decoder, 'read', picture))?.text ?? null;
}

/**
 * Reads a picture and measures its scan margin, as `readPicture` does. Measures one picture at a
 * time: returns null if a newer one replaced it.
 */
export function measurePicture(decoder: Worker, picture: ImageData): Promise<Measurement | null> {
  answer(measuring, null);
  measuring = next + 1;
  return ask(decoder, 'measure', picture);
}

function ask(
  decoder: Worker,
  kind: Question['kind'],
  { data, width }: ImageData,
): Promise<Measurement | null> {
  const id = (next += 1);
  const pixels = data.buffer;
  return new Promise((resolve, reject) => {
    pending.set(id, { resolve, reject });
    setTimeout(() => {
      if (pending.has(id)) end(decoder, new Error('The decoder did not answer'));
    }, TIMEOUT_MS);
    decoder.postMessage({ id, kind, side: width, pixels } satisfies Question, [pixels]);
  });
}

/** Draws a picture in the middle of a white square with margins of a tenth of `side`. */
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

/** Loads an image file. */
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
