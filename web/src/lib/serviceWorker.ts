import { setting } from './config';
import { language } from './language';
import { savesData } from './savesData';

/**
 * Registers the service worker once the page has loaded, unless the operator turned it off or the
 * user saves data: it fetches all files of the pages.
 */
export function registerServiceWorker(): void {
  // Browsers have it on HTTPS and on localhost only.
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  if (setting('atajo-service-worker') === 'off' || savesData()) return;
  const register = () => {
    navigator.serviceWorker
      .register(`/sw.js?lang=${language.tag}`)
      .catch((error: unknown) => console.error('There is no service worker', error));
  };
  if (document.readyState === 'complete') register();
  else addEventListener('load', register, { once: true });
}
