import { isReserved } from './codes';
import { CODE_ALPHABET, CODE_LENGTH } from './edge';

/** Random characters of the code alphabet: an identifier that nobody can guess from 22 on. */
export function randomText(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return Array.from(bytes, (byte) => CODE_ALPHABET.charAt(byte & 63)).join('');
}

/** Eight characters at random; 64 divides 256, so six bits of each byte are as even as the source. */
export function newCode(): string {
  const code = randomText(CODE_LENGTH);
  return isReserved(code) ? newCode() : code;
}
