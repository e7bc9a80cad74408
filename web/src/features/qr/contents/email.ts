import { wellFormed } from '../symbol';
import { hostOf, isAddress } from './checks';
import { problems } from './messages';
import { visible } from './pasted';
import { type Filled, unlessFaulty, type Written } from './written';

export type EmailField = 'address' | 'subject' | 'body';

/**
 * A `mailto:` URI (RFC 6068). All but letters and digits is percent-encoded, + too, of which some
 * readers make a space.
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

/** A part of a URI; lines end as e-mail wants it. */
export function encodePart(text: string): string {
  return encodeURIComponent(wellFormed(text).replace(/\r\n|\r|\n/g, '\r\n'));
}
