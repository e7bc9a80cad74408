/** Page side of the worker that writes the files of 'Download everything'. */
import type { ExportedLink } from './exported';
import type { Message, Order } from './kit.worker';

export interface KitWorker {
  add: (links: ExportedLink[]) => void;
  /** Rejects with an Error when the worker fails or does not load, and with the signal's reason. */
  end: (onProgress: (done: number, total: number) => void) => Promise<Blob>;
}

/** Starts the worker. Aborting the signal terminates it. */
export function startKit(origin: string, signal: AbortSignal): KitWorker {
  const worker = new Worker(new URL('./kit.worker.ts', import.meta.url), { type: 'module' });
  const order = (message: Order) => worker.postMessage(message);
  let onProgress: (done: number, total: number) => void = () => undefined;
  const file = new Promise<Blob>((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<Message>) => {
      if (data.kind === 'progress') onProgress(data.done, data.total);
      else resolve(data.file);
    });
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      reject(new Error(event.message || 'The worker did not load'));
    });
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  }).finally(() => worker.terminate());
  // If `end` is not called, the error of the file must not become an unhandled rejection.
  file.catch(() => undefined);
  order({ kind: 'begin', origin });
  return {
    add: (links) => order({ kind: 'links', links }),
    end: (listener) => {
      onProgress = listener;
      order({ kind: 'end' });
      return file;
    },
  };
}
