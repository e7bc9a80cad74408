import { toUnicode } from 'punycode.js';

/** A host as people read it, where that is another text than what goes over the wire; else null. */
export function readable(host: string): string | null {
  try {
    const shown = toUnicode(host);
    return shown === host ? null : shown;
  } catch {
    return null; // It only looks like punycode: there is no other form of it.
  }
}
