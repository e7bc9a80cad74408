/** Content lines, which vCard (RFC 6350, RFC 2426) and iCalendar (RFC 5545) have in common. */

/** Bytes of a line, less its end; what is longer goes on in the next one, after a space. */
const LONGEST = 75;

/** A value of type TEXT, which has no control characters but tabs and the ends of its lines. */
export function escapeText(value: string): string {
  return value
    .replace(/[\\;,]/g, '\\$&')
    .replace(/\r\n|\r|\n/g, '\\n')
    .replace(/[^\P{Cc}\t]/gu, '');
}

/** Lines as they are written: folded between characters, each with its end. */
export function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${fold(line)}\r\n`).join('');
}

function fold(line: string): string {
  const encoder = new TextEncoder();
  let folded = '';
  let length = 0;
  for (const character of line) {
    const more = encoder.encode(character).length;
    if (length + more > LONGEST) {
      folded += '\r\n ';
      length = 1;
    }
    folded += character;
    length += more;
  }
  return folded;
}
