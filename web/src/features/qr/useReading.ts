import { type RefObject, useCallback, useEffect, useEffectEvent, useState } from 'react';
import { loadToasts } from '../../components/toast';
import { savesData } from '../../lib/savesData';
import { framed, loadDecoder, measurePicture } from './decoder';
import { type Design, SIZE } from './drawing';
import type { MarginReading } from './verdict';

/** Milliseconds without a change after which the code is read. */
const CALM = 150;

/**
 * What a decoder reads on the canvas, and how much that bears; undefined while it is not known. Only the latest design
 * counts, and a decoder that is still loading is asked about no other one. `again` reads once more,
 * for the logo that came later or the decoder that did not load.
 */
export function useReading(
  canvas: RefObject<HTMLCanvasElement | null>,
  design: Design,
  empty: boolean,
): [MarginReading | undefined, () => void] {
  const [read, setRead] = useState<{ design: Design; reading: MarginReading }>();
  const [turn, setTurn] = useState(0);
  const again = useCallback(() => setTurn((count) => count + 1), []);

  const look = useEffectEvent(async (decoder: Worker): Promise<MarginReading | null> => {
    if (!canvas.current) return { text: null, lost: null };
    return measurePicture(decoder, framed(canvas.current, SIZE));
  });

  useEffect(() => {
    if (empty) return undefined;
    let current = true;
    const check = async () => {
      let reading: MarginReading | null = 'unavailable';
      try {
        const decoder = await loadDecoder();
        if (current) reading = await look(decoder);
      } catch (error) {
        console.warn('The code was not checked', error);
      }
      if (current && reading) setRead({ design, reading });
    };
    const timer = setTimeout(() => void check(), CALM);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [design, empty, turn]);

  useEffect(() => {
    addEventListener('online', again);
    return () => removeEventListener('online', again);
  }, [again]);

  return [read?.design === design ? read.reading : undefined, again];
}

/**
 * What is needed later comes while nothing else is to be done: the page then works offline. At last
 * comes what `loadAhead` loads and its answer ends. Nothing comes ahead for those who pay for every
 * byte.
 */
export function useIdleLoading(loadAhead: () => Promise<() => void>): void {
  useEffect(() => {
    if (savesData()) return undefined;
    const leaving = new AbortController();
    const isLeft = () => leaving.signal.aborted;
    const onLeave = (act: () => void) => leaving.signal.addEventListener('abort', act);
    const loadOptions = async () => {
      if (isLeft()) return;
      try {
        const end = await loadAhead();
        if (isLeft()) end();
        else onLeave(end);
      } catch (error) {
        console.warn('The options did not load ahead', error);
      }
    };
    const load = async () => {
      loadToasts().catch((error: unknown) => console.warn('Toasts did not load', error));
      try {
        await loadDecoder();
      } catch (error) {
        console.warn('There is no decoder here', error);
      }
      onLeave(whenIdle(() => void loadOptions()));
    };
    onLeave(whenIdle(() => void load()));
    return () => leaving.abort();
  }, [loadAhead]);
}

/** Calls once the browser has nothing else to do; answers what takes that back. */
function whenIdle(act: () => void): () => void {
  // Not in every browser.
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(act, 1_000);
    return () => clearTimeout(timer);
  }
  const idle = requestIdleCallback(act, { timeout: 5_000 });
  return () => cancelIdleCallback(idle);
}
