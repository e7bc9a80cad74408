import { isCode } from '../../../lib/codes';
import { publicUrl } from '../../../lib/config';

const SCHEME = /^https?:\/\//i;

/** Returns the code that a text names: itself, or that of a short URL; null for anything else. */
export function codeOf(text: string): string | null {
  const rest = text.replace(SCHEME, '');
  const own = `${new URL(publicUrl()).host}/`;
  const code = rest.toLowerCase().startsWith(own) ? rest.slice(own.length) : text;
  return isCode(code) ? code : null;
}
