import { type RefObject, useCallback, useEffect, useEffectEvent, useState } from 'react';
import { loadToasts } from '../../components/toast';
import { savesData } from '../../lib/savesData';
import { framed, loadDecoder, measurePicture } from './decoder';
import { type Design, SIZE } from './drawing';
import type { MarginReading } from './verdict';

/** Time without a change after which the code is read. */
const DEBOUNCE_MS = 150;

/**
 * Reads the code on the canvas and measures its scan margin; undefined while that is not known.
 *
 * Only the latest design counts, and only that is read once the decoder has loaded. The returned
 * function repeats the reading, for a logo that loaded later or a decoder that did not load.
 */
export function useReading(
  canvas: RefObject<HTMLCanvasElement | null>,
  design: Design,
  empty: boolean,
): [MarginReading | undefined, () => void] {
  const [read, setRead] = useState<{ design: Design; reading: MarginReading }>();
  const [attempt, setAttempt] = useState(0);
  const again = useCallback(() => setAttempt((count) => count + 1), []);

  const measureCanvas = useEffectEvent(async (decoder: Worker): Promise<MarginReading | null> => {
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
        if (current) reading = await measureCanvas(decoder);
      } catch (error) {
        console.warn('The code was not checked', error);
      }
      if (current && reading) setRead({ design, reading });
    };
    const timer = setTimeout(() => void check(), DEBOUNCE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [design, empty, attempt]);

  useEffect(() => {
    addEventListener('online', again);
    return () => removeEventListener('online', again);
  }, [again]);

  return [read?.design === design ? read.reading : undefined, again];
}

/**
 * Preloads code while the browser is idle, so that the page then works offline: the toasts, the
 * decoder, and finally what `loadAhead` loads. Calls the function that `loadAhead` returns on
 * unmount. Preloads nothing if the browser is set to save data.
 */
export function useIdleLoading(loadAhead: () => Promise<() => void>): void {
  useEffect(() => {
    if (savesData()) return undefined;
    const unmounting = new AbortController();
    const isUnmounted = () => unmounting.signal.aborted;
    const onUnmount = (act: () => void) => unmounting.signal.addEventListener('abort', act);
    const loadOptions = async () => {
      if (isUnmounted()) return;
      try {
        const end = await loadAhead();
        if (isUnmounted()) end();
        else onUnmount(end);
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
      onUnmount(whenIdle(() => void loadOptions()));
    };
    onUnmount(whenIdle(() => void load()));
    return () => unmounting.abort();
  }, [loadAhead]);
}

/** Calls a function once the browser is idle; returns a function that cancels the call. */
function whenIdle(act: () => void): () => void {
  // Not every browser has it.
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(act, 1_000);
    return () => clearTimeout(timer);
  }
  const idle = requestIdleCallback(act, { timeout: 5_000 });
  return () => cancelIdleCallback(idle);
}
