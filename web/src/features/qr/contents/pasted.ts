/** Cleans pasted values: removes what copying adds, and converts the digits of other scripts. */

/** Invisible characters: directional marks, joiners, soft hyphens, byte order marks. */
const INVISIBLE = /\p{Cf}/gu;

const DASHES = /[\u2010-\u2015\u2212]/gu;

/** Removes invisible characters, and whitespace at both ends. */
export function visible(given: string): string {
  return given.replace(INVISIBLE, '').trim();
}

/** Cleans a number: also converts digits, signs and decimal separators of all scripts to ASCII. */
export function plainNumber(given: string): string {
  return visible(given)
    .replace(/[º˚]/g, '°')
    .normalize('NFKC')
    .replace(DASHES, '-')
    .replaceAll('\u066b', '.')
    .replace(/\p{Nd}/gu, (digit) => String(valueOf(digit)));
}

/** Removes line breaks at the end, which text copied from a list or a table has. */
export function withoutTrailingBreaks(text: string): string {
  return text.replace(/[\r\n]+$/, '');
}

/** Returns the value of a decimal digit. The digits of a script are consecutive, zero first. */
function valueOf(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - 1 - value))) value += 1;
  return value;
}
