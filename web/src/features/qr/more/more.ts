/** All that comes when 'More options' is opened. */
import { loadBatch } from '../batch/batch';
import { loadWorker } from '../batch/worker';

export { makePdf } from '../batch/worker';
export { loadLetters } from '../outline';
export { drawn, pngFile } from './files';
export { MoreOptions } from './MoreOptions';

/** Loads what comes with them, so that they can be opened without a network. Ended by what it answers. */
export async function loadAhead(): Promise<() => void> {
  await loadBatch();
  return loadWorker();
}
