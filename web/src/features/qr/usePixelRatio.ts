import { useSyncExternalStore } from 'react';

/** Returns the device pixel ratio, and updates it on zooming and on another screen. */
export function usePixelRatio(): number {
  return useSyncExternalStore(
    subscribe,
    () => devicePixelRatio || 1,
    () => 1,
  );
}

function subscribe(listener: () => void): () => void {
  let query: MediaQueryList;
  const watch = () => {
    query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    query.addEventListener('change', onChange, { once: true });
  };
  const onChange = () => {
    listener();
    watch();
  };
  watch();
  return () => query.removeEventListener('change', onChange);
}
