/** The worker that makes files, as the page sees it. */
import type { Drawing } from '../drawing';
import type { BatchJob, Message, Order, PdfJob } from './batch.worker';
import type { Failure } from './rows';

/** Milliseconds without a word after which a worker is given up: a file takes far less than one. */
const SILENCE = 30_000;

/** A worker that has come before it is asked for anything. */
let spare: Worker | undefined;

function start(): Worker {
  return new Worker(new URL('./batch.worker.ts', import.meta.url), { type: 'module' });
}

/**
 * Loads a worker while there is a network, with the writer of PDFs: files are then made without one.
 * Ended by what it answers.
 */
export function loadWorker(): () => void {
  const worker = spare ?? start();
  const forget = () => {
    if (spare === worker) spare = undefined;
  };
  if (!spare) {
    spare = worker;
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      forget();
    });
    worker.postMessage('load' satisfies Order);
  }
  return () => {
    if (spare === worker) worker.terminate();
    forget();
  };
}

/**
 * Makes the files of a job. `onRow` hears of each row. Rejects with the signal's reason where it is
 * aborted, and where the worker fails.
 */
export function makeZip(
  job: BatchJob,
  onRow: (done: number, failure: Failure | null) => void,
  signal: AbortSignal,
): Promise<Blob> {
  return carryOut(job, job.image ? [job.image] : [], onRow, signal);
}

/** A drawing as a PDF, so many millimetres a side. Rejects where the worker fails. */
export function makePdf(drawing: Drawing, millimetres: number): Promise<Blob> {
  return carryOut({ drawing, millimetres }, [], () => undefined);
}

/** Has a worker of its own make a file; it ends with it. */
function carryOut(
  job: BatchJob | PdfJob,
  given: Transferable[],
  onRow: (done: number, failure: Failure | null) => void,
  signal?: AbortSignal,
): Promise<Blob> {
  signal?.throwIfAborted();
  const worker = spare ?? start();
  spare = undefined;
  const ended = new AbortController();
  const whole = new Promise<Blob>((resolve, reject) => {
    let silence: ReturnType<typeof setTimeout>;
    const wait = () => {
      clearTimeout(silence);
      silence = setTimeout(() => reject(new Error('The worker did not answer')), SILENCE);
    };
    ended.signal.addEventListener('abort', () => clearTimeout(silence));
    wait();
    worker.addEventListener('message', ({ data }: MessageEvent<Message>) => {
      wait();
      if ('file' in data) resolve(data.file);
      else onRow(data.done, data.failure);
    });
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      reject(new Error(event.message || 'The worker did not load'));
    });
    const stop = () => reject(signal?.reason as Error);
    signal?.addEventListener('abort', stop, { signal: ended.signal });
    worker.postMessage(job satisfies Order, given);
  });
  return whole.finally(() => {
    ended.abort();
    worker.terminate();
  });
}
