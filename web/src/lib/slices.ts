/** Milliseconds of work after which the page has its turn: it then draws and hears within a frame. */
const SLICE = 5;

/** Maps a list that may be long. Rejects once the signal is aborted. */
export async function mapInSlices<T, U>(
  items: readonly T[],
  map: (item: T) => U,
  signal?: AbortSignal,
): Promise<U[]> {
  const mapped: U[] = [];
  let begun = performance.now();
  for (const item of items) {
    mapped.push(map(item));
    if (performance.now() - begun < SLICE) continue;
    await nextTurn();
    signal?.throwIfAborted();
    begun = performance.now();
  }
  return mapped;
}

/** A message, because timers wait for a second in a page that is not looked at. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
