/** Short URLs that people paste. */
import { addressedCode } from './codes';
import { domainOf, origins } from './config';

const SCHEME = /^https?:\/\//i;

/**
 * Returns the code in a short URL of this instance, at any of its domains and with or without its
 * scheme; null for any other text.
 */
export function codeInShortUrl(text: string): string | null {
  const rest = text.replace(SCHEME, '');
  const own = origins()
    .map((origin) => `${domainOf(origin)}/`)
    .find((start) => rest.toLowerCase().startsWith(start));
  return own === undefined ? null : addressedCode(rest.slice(own.length));
}
