import { formatNumber } from '../../lib/format';
import { wellFormed } from './symbol';

/** Of a text this long a screen reader hears the beginning. */
const SPOKEN = 300;

/** What a code is called for those who do not see it. */
export function alternative(text: string): string {
  if (text.length <= SPOKEN) return `QR code of ${text}`;
  const length = formatNumber(text.length);
  return `QR code of a text of ${length} characters that begins ${wellFormed(text.slice(0, SPOKEN))}`;
}
