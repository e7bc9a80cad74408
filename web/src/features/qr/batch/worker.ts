/** The page's interface to the worker that creates files. */
import type { Drawing } from '../drawing';
import type { BatchJob, Message, Order, PdfJob } from './batch.worker';
import type { Failure } from './rows';

/** Time without a message after which a worker is terminated. One file takes far less. */
const TIMEOUT_MS = 30_000;

/** A preloaded worker without a job. */
let spare: Worker | undefined;

function start(): Worker {
  return new Worker(new URL('./batch.worker.ts', import.meta.url), { type: 'module' });
}

/**
 * Preloads a worker and its PDF writer, so that files can be created without a network. Returns a
 * function that terminates the worker unless it has a job.
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
 * Creates the files of a job as a ZIP. Calls `onRow` after each row. Rejects with the reason of the
 * signal if it is aborted, and if the worker fails.
 */
export function makeZip(
  job: BatchJob,
  onRow: (done: number, failure: Failure | null) => void,
  signal: AbortSignal,
): Promise<Blob> {
  return runJob(job, job.image ? [job.image] : [], onRow, signal);
}

/** Writes a drawing as a PDF, `millimetres` along a side. Rejects if the worker fails. */
export function makePdf(drawing: Drawing, millimetres: number): Promise<Blob> {
  return runJob({ drawing, millimetres }, [], () => undefined);
}

/** Runs a job in a worker of its own, and terminates it afterwards. */
function runJob(
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
      silence = setTimeout(() => reject(new Error('The worker did not answer')), TIMEOUT_MS);
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
