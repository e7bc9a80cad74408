import { useSyncExternalStore } from 'react';

const EVENTS = ['focus', 'blur'] as const;

/** Whether the page has the user's attention: its tab is visible and its window has the focus. */
export function usePageActive(): boolean {
  return useSyncExternalStore(subscribe, isPageActive);
}

function isPageActive(): boolean {
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
