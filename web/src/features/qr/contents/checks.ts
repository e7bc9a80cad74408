/** What several kinds of content ask of the same field. */

/** RFC 5321: characters of an address that can be delivered to. */
const LONGEST_ADDRESS = 254;
const ADDRESS = /^[^\s@<>()[\]\\,;:"]+@([^\s@/?#:%\\[\]]+)$/;

export const ADDRESS_FAULT = 'Enter an e-mail address such as ana@example.org';

/** Whether mail can be sent to it, as far as its form tells. */
export function isAddress(given: string): boolean {
  const host = ADDRESS.exec(given)?.[1];
  return host !== undefined && given.length <= LONGEST_ADDRESS && hostOf(host) !== null;
}

/** A host as the wire has it: small letters, in ASCII; null where it is none. */
export function hostOf(given: string): string | null {
  const url = `http://${given}/`;
  return URL.canParse(url) ? new URL(url).hostname : null;
}

export const NUMBER_FAULT = 'Enter a number with its country code, such as +34 600 123 456';

/** E.164: digits of a number with its country code, which never begins with 0. */
const NUMBER = /^\+[1-9]\d{4,14}$/;

/** +34600123456 of a number as people write it; null where the country is missing. */
export function parseNumber(given: string): string | null {
  const number = given
    .trim()
    .replace(/^00/, '+')
    // The 0 that is dialled within the country alone.
    .replace(/\(0\)/, '')
    .replace(/[\s().\-/\u2010-\u2015]/gu, '');
  return NUMBER.test(number) ? number : null;
}

/** The length of a text in UTF-8. */
export function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
