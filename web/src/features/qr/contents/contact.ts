import { webUrl } from '../../../lib/urls';
import { isAddress, splitNumber } from './checks';
import { escapeText, joinLines } from './lines';
import { problems } from './messages';
import { visible } from './pasted';
import { type Filled, unlessFaulty, type Written } from './written';

export type ContactField =
  | 'given'
  | 'family'
  | 'organization'
  | 'title'
  | 'phone'
  | 'email'
  | 'website'
  | 'street'
  | 'city'
  | 'region'
  | 'postcode'
  | 'country'
  | 'note'
  | 'version';

export const VCARD_4 = '4.0';
export const VCARD_3 = '3.0';

/**
 * Writes a vCard 4.0 (RFC 6350), or 3.0 (RFC 2426), which differs only in its version: N, which 3.0
 * requires, is always present, and semicolons are always escaped, as 4.0 allows.
 *
 * Older address books of Android reject a 4.0 card and accept the same card as 3.0 (GrapheneOS,
 * issue 977; Astrotomic/laravel-vcard, issue 17). TEL is text, as both allow: ZXing would make the
 * `tel:` of a URI, which 4.0 prefers, part of the number.
 */
export function writeContact(filled: Filled<ContactField>): Written<ContactField> {
  const { given, family, organization, phone, email, website } = filled;
  const named = [given, family, organization].some((name) => name.trim() !== '');
  const faults = {
    given: named ? undefined : problems.contactName,
    phone: phone === '' ? undefined : phoneFault(phone),
    email: email === '' || isAddress(visible(email)) ? undefined : problems.email,
    website: website === '' || addressOf(website) ? undefined : problems.website,
  };
  return unlessFaulty(faults, () => joinLines(linesOf(filled)));
}

function linesOf(filled: Filled<ContactField>): string[] {
  const { given, family, organization, title, phone, email, website, note, version } = filled;
  const name = `${given} ${family}`.trim() || organization;
  const place = [filled.street, filled.city, filled.region, filled.postcode, filled.country];
  const lines = [
    'BEGIN:VCARD',
    `VERSION:${version}`,
    `N:${structured([family, given, '', '', ''])}`,
    `FN:${structured([name])}`,
  ];
  const add = (property: string, value: string) => {
    if (value !== '') lines.push(`${property}:${value}`);
  };
  add('ORG', structured([organization]));
  add('TITLE', structured([title]));
  add('TEL', structured([dialled(phone)]));
  add('EMAIL', structured([visible(email)]));
  // The value is a URI and not text: nothing in it is escaped.
  add('URL', website === '' ? '' : (addressOf(website) ?? ''));
  if (place.some((part) => part.trim() !== '')) add('ADR', structured(['', '', ...place]));
  add('NOTE', structured([note]));
  return [...lines, 'END:VCARD'];
}

function structured(parts: readonly string[]): string {
  return parts.map((part) => escapeText(part.trim())).join(';');
}

/** Returns the fault of a number as people write it. A country code is optional here. */
function phoneFault(given: string): string | undefined {
  const { number } = splitNumber(given);
  if (number.split(/[/;,|]/).filter(hasManyDigits).length > 1) return problems.onePhone;
  const isPhone = /^\+?[\d\s().\-/#*]+$/.test(number) && /\d{3}/.test(number.replace(/\D/g, ''));
  return isPhone ? undefined : problems.phone;
}

/** Returns whether a part has the digits of a complete number, not just of an area code. */
function hasManyDigits(part: string): boolean {
  return part.replace(/\D/g, '').length >= 6;
}

/** Returns a number with its extension after a pause, in a form that phones dial unchanged. */
function dialled(given: string): string {
  const { number, extension } = splitNumber(given);
  return extension === '' ? number : `${number},${extension}`;
}

/** Returns a URL with its scheme; null if it is invalid. */
function addressOf(given: string): string | null {
  const full = webUrl(visible(given));
  return full === null ? null : new URL(full).href;
}
