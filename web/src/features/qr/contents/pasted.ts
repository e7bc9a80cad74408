/** Cleans values that people paste: what copying adds to them, and how other scripts write them. */

/** Marks that nobody sees: directions of writing, joiners, soft hyphens, byte order marks. */
const INVISIBLE = /\p{Cf}/gu;

const DASHES = /[\u2010-\u2015\u2212]/gu;

/** Removes invisible marks, and blanks at both ends. */
export function visible(given: string): string {
  return given.replace(INVISIBLE, '').trim();
}

/** The same of a number: digits, signs and the decimal point of every script become those of ASCII. */
export function plainNumber(given: string): string {
  return visible(given)
    .replace(/[º˚]/g, '°')
    .normalize('NFKC')
    .replace(DASHES, '-')
    .replaceAll('\u066b', '.')
    .replace(/\p{Nd}/gu, (digit) => String(valueOf(digit)));
}

/** Removes line breaks at the end, which come with a text that is copied from a list or a table. */
export function withoutTrailingBreaks(text: string): string {
  return text.replace(/[\r\n]+$/, '');
}

/** Returns the value of a decimal digit: each script has its ten digits in a row, zero first. */
function valueOf(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - 1 - value))) value += 1;
  return value;
}
