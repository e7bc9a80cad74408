// @vitest-environment node
import { afterEach, expect, it, vi } from 'vitest';
import { isCode, isReserved, isRoute } from './codes';
import { CODE_ALPHABET } from './edge';
import { newCode } from './newCode';

afterEach(() => vi.restoreAllMocks());

/** Mocks the random bytes so that they yield these codes, one after the other. */
function drawn(...codes: string[]) {
  vi.spyOn(crypto, 'getRandomValues').mockImplementation((bytes) => {
    const code = codes.shift() ?? '';
    (bytes as Uint8Array).set(Array.from(code, (character) => CODE_ALPHABET.indexOf(character)));
    return bytes;
  });
}

it('generates a code of eight characters from an alphabet of 64', () => {
  expect(new Set(CODE_ALPHABET).size).toBe(64);
  expect(newCode()).toMatch(/^[A-Za-z0-9_-]{8}$/);
});

it('generates no reserved code', () => {
  drawn('register', 'Accounts', 'k7Qm2_xB');
  expect(newCode()).toBe('k7Qm2_xB');
});

it.each(['abcd', 'a'.repeat(32)])('accepts %s as a code', (code) =>
  expect(isCode(code)).toBe(true),
);

it.each(['', 'abc', 'a'.repeat(33), 'abcdefg\n', 'abcdefgñ', 'abcd/fgh'])(
  'does not accept %j as a code',
  (text) => expect(isCode(text)).toBe(false),
);

it('distinguishes a route from a name that is only reserved', () => {
  expect([isRoute('login'), isReserved('login')]).toEqual([true, true]);
  expect([isRoute('LOGIN'), isReserved('LOGIN')]).toEqual([false, true]);
  expect([isRoute('dashboard'), isReserved('dashboard')]).toEqual([false, true]);
  expect([isRoute('k7Qm2_xB'), isReserved('k7Qm2_xB')]).toEqual([false, false]);
});
