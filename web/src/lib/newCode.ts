import { avoided, CODE_ALPHABET, CODE_LENGTH } from './edge';

/**
 * Returns random characters of the code alphabet. A text of 22 or more cannot be guessed.
 *
 * 64 divides 256, so six bits of each byte are as uniform as the source.
 */
export function randomText(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return Array.from(bytes, (byte) => CODE_ALPHABET.charAt(byte & 63)).join('');
}

/** Returns a random code of eight characters that is not reserved. */
export function newCode(): string {
  const code = randomText(CODE_LENGTH);
  return avoided.includes(code.toLowerCase()) ? newCode() : code;
}
