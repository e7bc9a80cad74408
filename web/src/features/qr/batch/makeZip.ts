import type { BatchJob, BatchMessage } from './batch.worker';
import type { Failure } from './rows';

/** Milliseconds without a word after which a worker is given up: a row takes far less than one. */
const SILENCE = 30_000;

/**
 * Makes the files of a job in a worker of its own, which ends with it. `onRow` hears of each row.
 * Rejects with the signal's reason where it is aborted, and where the worker fails.
 */
export function makeZip(
  job: BatchJob,
  onRow: (done: number, failure: Failure | null) => void,
  signal: AbortSignal,
): Promise<Blob> {
  signal.throwIfAborted();
  const worker = new Worker(new URL('./batch.worker.ts', import.meta.url), { type: 'module' });
  const ended = new AbortController();
  const whole = new Promise<Blob>((resolve, reject) => {
    let silence: ReturnType<typeof setTimeout>;
    const wait = () => {
      clearTimeout(silence);
      silence = setTimeout(() => reject(new Error('The worker did not answer')), SILENCE);
    };
    ended.signal.addEventListener('abort', () => clearTimeout(silence));
    wait();
    worker.addEventListener('message', ({ data }: MessageEvent<BatchMessage>) => {
      wait();
      if ('zip' in data) resolve(data.zip);
      else onRow(data.done, data.failure);
    });
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      reject(new Error(event.message || 'The worker did not load'));
    });
    const stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { signal: ended.signal });
    worker.postMessage(job, job.image ? [job.image] : []);
  });
  return whole.finally(() => {
    ended.abort();
    worker.terminate();
  });
}
