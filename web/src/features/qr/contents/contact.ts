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
 * A vCard 4.0 (RFC 6350), or 3.0 (RFC 2426), which differs by its version alone: N, which 3.0
 * demands, is always there, and semicolons are always escaped, as 4.0 allows. Older address
 * books of Android refuse a 4.0 as a whole and take the same card as 3.0 (GrapheneOS, issue 977;
 * Astrotomic/laravel-vcard, issue 17). TEL is a text, as both allow: of a `tel:` URI, which 4.0
 * prefers, ZXing makes a part of the number.
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
  // A URI is no text: nothing in it is escaped.
  add('URL', website === '' ? '' : (addressOf(website) ?? ''));
  if (place.some((part) => part.trim() !== '')) add('ADR', structured(['', '', ...place]));
  add('NOTE', structured([note]));
  return [...lines, 'END:VCARD'];
}

function structured(parts: readonly string[]): string {
  return parts.map((part) => escapeText(part.trim())).join(';');
}

/** As people write numbers; what it is dialled from is up to whoever reads it. */
function phoneFault(given: string): string | undefined {
  const { number } = splitNumber(given);
  if (number.split(/[/;,|]/).filter(hasManyDigits).length > 1) return problems.onePhone;
  const isPhone = /^\+?[\d\s().\-/#*]+$/.test(number) && /\d{3}/.test(number.replace(/\D/g, ''));
  return isPhone ? undefined : problems.phone;
}

/** Whether it has as many digits as a whole number, and not as an area code. */
function hasManyDigits(part: string): boolean {
  return part.replace(/\D/g, '').length >= 6;
}

/** A number with its extension after a pause, which phones dial as it stands. */
function dialled(given: string): string {
  const { number, extension } = splitNumber(given);
  return extension === '' ? number : `${number},${extension}`;
}

/** A web address with its scheme; null where it is none. */
function addressOf(given: string): string | null {
  const full = webUrl(visible(given));
  return full === null ? null : new URL(full).href;
}
