/** Detects the kind of a file by the beginning of its text. */
import type { ProblemCode } from './parsed';

export type Kind = 'bookmarks' | 'json' | 'sql' | 'table' | 'xml';

const SQL =
  /^(?:--|\/\*|(?:CREATE|DROP|INSERT|REPLACE|LOCK|ALTER)\s|(?:SET|USE|BEGIN|START|PRAGMA)\s[^,;\t]*;)/i;

export function detectKind(head: string): Kind {
  const text = head.trimStart();
  if (/^[[{]/.test(text)) return 'json';
  if (/^<\?xml|^<redirection/i.test(text)) return 'xml';
  if (/^<(?:!doctype|!--|html|dl|dt|title|meta|h1)/i.test(text)) return 'bookmarks';
  return SQL.test(text) ? 'sql' : 'table';
}

/** First bytes of files that are not text, in Latin-1. */
const SIGNATURES: readonly { start: string; code: ProblemCode }[] = [
  { start: 'PK\u0003\u0004', code: 'workbook' },
  { start: '\u00d0\u00cf\u0011\u00e0', code: 'workbook' },
  { start: '\u001f\u008b', code: 'archive' },
  { start: '7z\u00bc\u00af', code: 'archive' },
  { start: 'Rar!', code: 'archive' },
  { start: '%PDF', code: 'not-text' },
  { start: '\u0089PNG', code: 'not-text' },
  { start: '\u00ff\u00d8\u00ff', code: 'not-text' },
  { start: 'GIF8', code: 'not-text' },
];

/** Number of bytes in which each signature is. */
export const SIGNATURE_LENGTH = 4;

/** Returns why a file with these first bytes is not text, or null if it may be. */
export function binaryProblem(bytes: readonly number[]): ProblemCode | null {
  const start = String.fromCharCode(...bytes);
  return SIGNATURES.find((one) => start.startsWith(one.start))?.code ?? null;
}
