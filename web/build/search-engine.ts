import type { Plugin } from 'vite';
import { gateway } from '../src/lib/edgeNames.ts';

/**
 * Vite plugin that links the document to the description of the shortener as a search engine, whose
 * path is in the table of routes.
 */
export function searchEngine(): Plugin {
  return {
    name: 'atajo:search-engine',
    transformIndexHtml: () => [
      {
        tag: 'link',
        attrs: {
          rel: 'search',
          type: 'application/opensearchdescription+xml',
          title: 'Atajo',
          href: gateway.opensearch,
        },
        injectTo: 'head',
      },
    ],
  };
}
