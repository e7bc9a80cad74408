import { codePoints } from '../../lib/text';
import { registerMessages } from './messages';

const LONGEST_EMAIL = 254;
const LONGEST_USERNAME = 30;
/** bcrypt reads no further. */
const LONGEST_PASSWORD_BYTES = 72;

export interface PasswordRule {
  text: string;
  isMet: (password: string) => boolean;
}

/** Shown in Spanish, as the specification has it. */
export const passwordRules: PasswordRule[] = [
  { text: 'Al menos 8 caracteres', isMet: (password) => codePoints(password) >= 8 },
  { text: 'Al menos una letra mayúscula', isMet: (password) => /\p{Lu}/u.test(password) },
  { text: 'Al menos un dígito', isMet: (password) => /\p{Nd}/u.test(password) },
  { text: 'Al menos un símbolo', isMet: (password) => /[\p{P}\p{S}]/u.test(password) },
  {
    text: 'Como máximo 72 bytes',
    isMet: (password) =>
      password !== '' && new TextEncoder().encode(password).length <= LONGEST_PASSWORD_BYTES,
  },
];

export function isGoodPassword(password: string): boolean {
  return passwordRules.every(({ isMet }) => isMet(password));
}

export function emailProblem(email: string): string | undefined {
  if (email === '') return registerMessages.noEmail;
  if (!email.includes('@') || email.length > LONGEST_EMAIL) return registerMessages.badEmail;
  return undefined;
}

export function usernameProblem(username: string): string | undefined {
  if (username === '') return registerMessages.noUsername;
  if (codePoints(username) > LONGEST_USERNAME) return registerMessages.longUsername;
  return undefined;
}
