/** What is asked for many rows at once goes a few at a time, and not at all for a while once it failed. */
import { failureCode } from '../../api';

const MOST = 2;
/** Milliseconds after a failure until the next one is tried. */
const REST = 30_000;

let running = 0;
let resting = false;
const waiting: (() => void)[] = [];

/** Does the work when it is its turn; one that is not wanted any more leaves. */
export async function inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  await turn(signal);
  try {
    return await work();
  } catch (error) {
    // That it is not there says nothing about the next one.
    if (!signal.aborted && failureCode(error) !== 'no-exist') rest();
    throw error;
  } finally {
    running -= 1;
    next();
  }
}

function turn(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = () => {
      signal.removeEventListener('abort', leave);
      running += 1;
      resolve();
    };
    const leave = () => {
      waiting.splice(waiting.indexOf(go), 1);
      reject(new DOMException('No longer wanted', 'AbortError'));
    };
    signal.addEventListener('abort', leave, { once: true });
    waiting.push(go);
    next();
  });
}

function next(): void {
  while (!resting && running < MOST) {
    const go = waiting.shift();
    if (!go) return;
    go();
  }
}

function rest(): void {
  if (resting) return;
  resting = true;
  setTimeout(() => {
    resting = false;
    next();
  }, REST);
}
