import { setting } from './config';
import { language } from './language';
import { savesData } from './savesData';

/** Milliseconds after loading. Until then, the page has the processor and the network. */
const DELAY = 3_000;

/**
 * Registers the service worker after the page has loaded, unless the user saves data: it fetches
 * all files of the pages. Removes it if the operator turned it off.
 */
export function registerServiceWorker(): void {
  // Browsers have it on HTTPS and on localhost only.
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const isOff = setting('atajo-service-worker') === 'off';
  if (!isOff && savesData()) return;
  const start = () => {
    (isOff ? unregister() : register()).catch((error: unknown) =>
      console.error('The service worker did not change', error),
    );
  };
  const startLater = () => setTimeout(start, DELAY);
  if (document.readyState === 'complete') startLater();
  else addEventListener('load', startLater, { once: true });
}

async function register(): Promise<void> {
  await navigator.serviceWorker.register(`/sw.js?lang=${language.tag}`);
}

/** A worker cannot do this itself: in Chromium, a page that opens meanwhile may wait forever. */
async function unregister(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration();
  if (!registration) return;
  await registration.unregister();
  for (const name of await caches.keys()) await caches.delete(name);
}
