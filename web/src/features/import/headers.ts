/**
 * Normalizes the names of columns and keys, so that `Created at (date)` is `createdat` and `Código`
 * is `codigo`.
 */

const BRACKETED_SUFFIX = /\s*[([{][^()[\]{}]*[)\]}]\s*$/;
const IGNORED = /[\s\p{Cf}\p{M}_\-"'`´‘’“”«»]/gu;

/** Number of characters that are considered. Real names are far shorter. */
const MAX_LENGTH = 200;

export function normalizeHeader(header: string): string {
  const start = header.slice(0, MAX_LENGTH).normalize('NFKD').toLowerCase();
  return start.replace(BRACKETED_SUFFIX, '').replace(IGNORED, '');
}
