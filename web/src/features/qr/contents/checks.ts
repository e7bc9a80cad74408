/** What several kinds of content ask of the same field. */

import { plainNumber } from './pasted';

/** RFC 5321: characters of an address that can be delivered to. */
const LONGEST_ADDRESS = 254;
const ADDRESS = /^[^\s@<>()[\]\\,;:"]+@([^\s@/?#:%\\[\]]+)$/;

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

/** A phone number, as `tel:` and `sms:` have it. */
export interface PhoneNumber {
  /** With its country code (+34600123456), or a short code (112). */
  number: string;
  /** Digits to dial once the call is answered; '' for none. */
  extension: string;
}

/** E.164: digits of a number with its country code, which never begins with 0. */
const NUMBER = /^\+[1-9]\d{4,14}$/;

/** A number of a country's own, for emergencies and services. */
const SHORT_CODE = /^\d{3,6}$/;

/** An extension after a number: 'ext. 12', 'x12', '#12', ';ext=12', or ',,12' with pauses. */
const EXTENSION =
  /(?:\s*;\s*ext\s*=\s*|[\s,;]*(?:\bext(?:ension)?|(?<=[\d\s)])x)[\s.:]*|\s+#\s*|\s*,[\s,]*)(\d{1,10})$/i;

/** Splits off what stands behind a number, and `tel:` before it. */
export function splitNumber(given: string): PhoneNumber {
  const plain = plainNumber(given).replace(/^(?:tel|sms):\s*/i, '');
  const [ending = '', extension = ''] = EXTENSION.exec(plain) ?? [];
  return { number: plain.slice(0, plain.length - ending.length), extension };
}

/** Parses a number as people write it; null where it is none or its country is missing. */
export function parseNumber(given: string): PhoneNumber | null {
  const { number: written, extension } = splitNumber(given);
  const number = written
    .replace(/^00/, '+')
    // The 0 that is dialled within the country alone.
    .replace(/\(0\)/, '')
    .replace(/[\s().\-/]/gu, '');
  if (NUMBER.test(number)) return { number, extension };
  return SHORT_CODE.test(number) && extension === '' ? { number, extension } : null;
}

/** The length of a text in UTF-8. */
export function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
