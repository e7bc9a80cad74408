import { isCode } from '../../../lib/codes';
import { codeInShortUrl } from '../../../lib/shortUrls';

/** Returns the code that a text names: itself, or that of a short URL; null for anything else. */
export function codeOf(text: string): string | null {
  return codeInShortUrl(text) ?? (isCode(text) ? text : null);
}
