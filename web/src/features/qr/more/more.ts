/** The chunk that loads when 'More options' is opened. */
import { loadBatch } from '../batch/batch';
import { loadWorker } from '../batch/worker';

export { makePdf } from '../batch/worker';
export { loadFont } from '../outline';
export { drawn, pngFile } from './files';
export { MoreOptions } from './MoreOptions';

/**
 * Preloads the batch and the worker, so that the options can be opened without a network. Returns a
 * function that discards the worker if it is unused.
 */
export async function loadAhead(): Promise<() => void> {
  await loadBatch();
  return loadWorker();
}
