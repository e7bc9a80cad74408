/** Content lines, as in vCard (RFC 6350, RFC 2426) and iCalendar (RFC 5545). */

/** Maximum bytes of a line without its end. A longer one continues on the next, after a space. */
const MAX_LINE_BYTES = 75;

/** Escapes a value of type TEXT. Removes control characters except tabs and line breaks. */
export function escapeText(value: string): string {
  return value
    .replace(/[\\;,]/g, '\\$&')
    .replace(/\r\n|\r|\n/g, '\\n')
    .replace(/[^\P{Cc}\t]/gu, '');
}

/** Folds lines between characters, and ends each with CRLF. */
export function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${fold(line)}\r\n`).join('');
}

function fold(line: string): string {
  const encoder = new TextEncoder();
  let folded = '';
  let length = 0;
  for (const character of line) {
    const more = encoder.encode(character).length;
    if (length + more > MAX_LINE_BYTES) {
      folded += '\r\n ';
      length = 1;
    }
    folded += character;
    length += more;
  }
  return folded;
}
