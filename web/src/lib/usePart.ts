import { useEffect, useState } from 'react';

/**
 * Loads a part of the page on demand. Returns null until the part has loaded.
 *
 * The page works without the part meanwhile. A failed load is retried automatically when the
 * browser is back online and when the window gets the focus. A loaded part is returned at once when
 * it is needed again. `load` must always be the same function.
 */
export function usePart<T>(load: () => Promise<T>, enabled: boolean): T | null {
  const [part, setPart] = useState<T | null>((loadedParts.get(load) as T | undefined) ?? null);

  useEffect(() => {
    if (!enabled || part !== null) return undefined;
    const left = new AbortController();
    const start = () => {
      load().then(
        (loaded) => {
          loadedParts.set(load, loaded);
          if (!left.signal.aborted) setPart(loaded);
        },
        (error: unknown) => console.error('A part of the page did not load', error),
      );
    };
    start();
    addEventListener('online', start, { signal: left.signal });
    addEventListener('focus', start, { signal: left.signal });
    return () => left.abort();
  }, [load, enabled, part]);

  return enabled ? part : null;
}

const loadedParts = new Map<unknown, unknown>();
