/**
 * The service worker, by which pages open without a network.
 *
 * It keeps the files of one language, and a document for pages that the network does not answer
 * for. It leaves everything else to the browser: short URLs, previews, functions and the API.
 */
import { clientsClaim } from 'workbox-core';
import { cleanupOutdatedCaches, matchPrecache, precacheAndRoute } from 'workbox-precaching';
import { NavigationRoute, registerRoute } from 'workbox-routing';
import { NetworkOnly } from 'workbox-strategies';
import { pages } from '../lib/edge';
import { CODE_PATTERN } from '../lib/edgeNames';

/** Files and version of the document by language, written by vite.worker.config.ts. */
declare const PRECACHED: Record<string, { files: string[]; version: string }>;
declare const self: ServiceWorkerGlobalScope;

/** Seconds after which a page opens without the network's answer. */
const TIMEOUT = 5;

const language = new URL(self.location.href).searchParams.get('lang') ?? '';
const { files, version } = PRECACHED[language] ?? { files: [], version: '' };
/** Any page that always exists has the document of all pages. */
const document = `${pages.notFound}?lang=${language}`;

// A newer worker replaces this one at once. Open tabs fetch what it no longer has.
void self.skipWaiting();
clientsClaim();
cleanupOutdatedCaches();
precacheAndRoute([
  ...files.map((url) => ({ url, revision: null })),
  { url: document, revision: version },
]);

const patterns = Object.entries(pages)
  .filter(([name]) => name !== 'preview')
  .map(([, path]) => new RegExp(`^${path.replace(':code', CODE_PATTERN)}(?:\\?|$)`));
const network = new NetworkOnly({
  networkTimeoutSeconds: TIMEOUT,
  plugins: [{ handlerDidError: () => matchPrecache(document) }],
});
registerRoute(new NavigationRoute(network, { allowlist: patterns }));
