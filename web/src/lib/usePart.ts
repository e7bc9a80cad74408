import { useEffect, useState } from 'react';

/**
 * A part of the page that comes once it is wanted, and is then given at once; null until then. The
 * page does without it meanwhile, so a load that failed is tried again unasked: when the browser is
 * back online, and when the page is looked at again. `load` is the same function all the time.
 */
export function usePart<T>(load: () => Promise<T>, wanted: boolean): T | null {
  const [part, setPart] = useState<T | null>((came.get(load) as T | undefined) ?? null);

  useEffect(() => {
    if (!wanted || part !== null) return undefined;
    const left = new AbortController();
    const bring = () => {
      load().then(
        (loaded) => {
          came.set(load, loaded);
          if (!left.signal.aborted) setPart(loaded);
        },
        (error: unknown) => console.error('A part of the page did not load', error),
      );
    };
    bring();
    addEventListener('online', bring, { signal: left.signal });
    addEventListener('focus', bring, { signal: left.signal });
    return () => left.abort();
  }, [load, wanted, part]);

  return wanted ? part : null;
}

const came = new Map<unknown, unknown>();
