import { useSyncExternalStore } from 'react';

const EVENTS = ['focus', 'blur'] as const;

/** Whether somebody looks at the page: its tab is in front, and its window has the focus. */
export function useLooked(): boolean {
  return useSyncExternalStore(subscribe, isLooked);
}

function isLooked(): boolean {
  return !document.hidden && document.hasFocus();
}

function subscribe(listener: () => void): () => void {
  for (const name of EVENTS) addEventListener(name, listener);
  document.addEventListener('visibilitychange', listener);
  return () => {
    for (const name of EVENTS) removeEventListener(name, listener);
    document.removeEventListener('visibilitychange', listener);
  };
}
