/**
 * What is said to a screen reader. The frame has one polite live region, which stands empty in the
 * document from the first paint on; whatever is announced is put into it as a node of its own, so
 * that the same words said twice are heard twice.
 */
import { useSyncExternalStore } from 'react';

export interface Announcement {
  id: number;
  text: string;
}

/** Milliseconds after which an announcement has been heard and is taken away. */
const KEPT = 5_000;

const listeners = new Set<() => void>();
let announcements: Announcement[] = [];
let next = 0;

export function announce(text: string): void {
  const id = (next += 1);
  set([...announcements, { id, text }]);
  setTimeout(() => set(announcements.filter((one) => one.id !== id)), KEPT);
}

export function useAnnouncements(): Announcement[] {
  return useSyncExternalStore(subscribe, () => announcements);
}

function set(changed: Announcement[]): void {
  announcements = changed;
  for (const listener of [...listeners]) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    // Nobody is there to hear it.
    if (listeners.size === 0) announcements = [];
  };
}
