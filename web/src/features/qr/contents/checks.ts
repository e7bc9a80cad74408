/** Checks and parsers that several kinds of content share. */

import { plainNumber } from './pasted';

/** Maximum length of a deliverable address (RFC 5321). */
const MAX_ADDRESS_LENGTH = 254;
const ADDRESS = /^[^\s@<>()[\]\\,;:"]+@([^\s@/?#:%\\[\]]+)$/;

/** Returns whether a text has the form of an email address. */
export function isAddress(given: string): boolean {
  const host = ADDRESS.exec(given)?.[1];
  return host !== undefined && given.length <= MAX_ADDRESS_LENGTH && hostOf(host) !== null;
}

/** Returns a host in lowercase ASCII; null if it is invalid. */
export function hostOf(given: string): string | null {
  const url = `http://${given}/`;
  return URL.canParse(url) ? new URL(url).hostname : null;
}

/** A phone number for `tel:` and `sms:` URIs. */
export interface PhoneNumber {
  /** With its country code (+34600123456), or a short code (112). */
  number: string;
  /** Digits to dial after the call is answered; '' for none. */
  extension: string;
}

/** An E.164 number: with its country code, which never begins with 0. */
const NUMBER = /^\+[1-9]\d{4,14}$/;

/** A national number for emergencies and services. */
const SHORT_CODE = /^\d{3,6}$/;

/** An extension after a number: 'ext. 12', 'x12', '#12', ';ext=12', or ',,12' with pauses. */
const EXTENSION =
  /(?:\s*;\s*ext\s*=\s*|[\s,;]*(?:\bext(?:ension)?|(?<=[\d\s)])x)[\s.:]*|\s+#\s*|\s*,[\s,]*)(\d{1,10})$/i;

/** Splits off the extension, and removes `tel:` or `sms:` at the start. */
export function splitNumber(given: string): PhoneNumber {
  const plain = plainNumber(given).replace(/^(?:tel|sms):\s*/i, '');
  const [ending = '', extension = ''] = EXTENSION.exec(plain) ?? [];
  return { number: plain.slice(0, plain.length - ending.length), extension };
}

/** Parses a number as people write it; null if it is invalid or has no country code. */
export function parseNumber(given: string): PhoneNumber | null {
  const { number: written, extension } = splitNumber(given);
  const number = written
    .replace(/^00/, '+')
    // The trunk prefix, which is dialed only within the country.
    .replace(/\(0\)/, '')
    .replace(/[\s().\-/]/gu, '');
  if (NUMBER.test(number)) return { number, extension };
  return SHORT_CODE.test(number) && extension === '' ? { number, extension } : null;
}

/** Returns the length of a text in UTF-8. */
export function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
