import { isReserved } from '../../lib/codes';
import { CODE_ALPHABET, CODE_LENGTH } from '../../lib/edge';

/** Eight characters at random; 64 divides 256, so six bits of each byte are as even as the source. */
export function newCode(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(CODE_LENGTH));
  const code = Array.from(bytes, (byte) => CODE_ALPHABET.charAt(byte & 63)).join('');
  return isReserved(code) ? newCode() : code;
}
