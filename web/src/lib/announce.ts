/**
 * Announcements to screen readers.
 *
 * The frame has one polite live region, which is empty in the document from the first paint on.
 * Each announcement is added as a new node, so that a repeated text is announced again.
 */
import { useSyncExternalStore } from 'react';

export interface Announcement {
  id: number;
  text: string;
}

/** Milliseconds after which an announcement has been read and is removed. */
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
  return useSyncExternalStore(
    subscribe,
    () => announcements,
    () => announcements,
  );
}

function set(changed: Announcement[]): void {
  announcements = changed;
  for (const listener of [...listeners]) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    // There is no live region.
    if (listeners.size === 0) announcements = [];
  };
}
