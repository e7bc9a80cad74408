import { wellFormed } from '../symbol';
import { hostOf, isAddress } from './checks';
import { problems } from './messages';
import { visible } from './pasted';
import { type Filled, unlessFaulty, type Written } from './written';

export type EmailField = 'address' | 'subject' | 'body';

/**
 * Writes a `mailto:` URI (RFC 6068). Percent-encodes reserved characters, including +, which some
 * readers turn into a space.
 */
export function writeEmail({ address, subject, body }: Filled<EmailField>): Written<EmailField> {
  const given = visible(address);
  return unlessFaulty({ address: isAddress(given) ? undefined : problems.email }, () => {
    const [local = '', host = ''] = given.split('@');
    const to = `${encodePart(local)}@${hostOf(host) ?? ''}`;
    const headers = Object.entries({ subject, body })
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${name}=${encodePart(value)}`);
    const query = headers.join('&');
    return `mailto:${to}${query && `?${query}`}`;
  });
}

/** Encodes a part of a URI. Lines end in CRLF, as email requires. */
export function encodePart(text: string): string {
  return encodeURIComponent(wellFormed(text).replace(/\r\n|\r|\n/g, '\r\n'));
}
