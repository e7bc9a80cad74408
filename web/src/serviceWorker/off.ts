/**
 * Replaces the service worker where the operator turned it off: deletes what it kept, and answers
 * nothing. The next page that opens unregisters it (lib/serviceWorker.ts).
 */
declare const self: ServiceWorkerGlobalScope;

self.addEventListener('install', () => void self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(deleteCaches()));

async function deleteCaches(): Promise<void> {
  for (const name of await caches.keys()) await caches.delete(name);
}

export {};
