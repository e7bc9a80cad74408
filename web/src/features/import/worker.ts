/** Page side of the worker that reads files. */
import type { Message, Order } from './import.worker';
import type { ReadOptions, Row, Summary } from './parsed';

interface Listeners {
  /** Called with up to 1,000 rows at a time, in the order of the file. */
  onRows: (rows: Row[]) => void;
  /** Called with the bytes read and their total. */
  onProgress: (read: number, total: number) => void;
}

/**
 * Reads a file, or pasted text as a Blob, in a separate worker.
 *
 * Rejects with the signal's reason when it is aborted, and with an Error when the worker fails or
 * does not load.
 */
export function readFile(
  file: Blob,
  options: ReadOptions,
  { onRows, onProgress }: Listeners,
  signal: AbortSignal,
): Promise<Summary> {
  signal.throwIfAborted();
  const worker = new Worker(new URL('./import.worker.ts', import.meta.url), { type: 'module' });
  const ended = new AbortController();
  const summary = new Promise<Summary>((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<Message>) => {
      if (data.kind === 'rows') onRows(data.rows);
      else if (data.kind === 'progress') onProgress(data.read, data.total);
      else resolve(data.summary);
    });
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      reject(new Error(event.message || 'The worker did not load'));
    });
    const stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { signal: ended.signal });
    worker.postMessage({ file, options } satisfies Order);
  });
  return summary.finally(() => {
    ended.abort();
    worker.terminate();
  });
}
