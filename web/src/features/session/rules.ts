import { codePoints } from '../../lib/text';
import { register } from './messages';

const MAX_EMAIL = 254;
const MAX_USERNAME = 30;
/** bcrypt ignores further bytes. */
const MAX_PASSWORD_BYTES = 72;

export interface PasswordRule {
  name: keyof typeof register.rules;
  isMet: (password: string) => boolean;
}

export const passwordRules: PasswordRule[] = [
  { name: 'length', isMet: (password) => codePoints(password) >= 8 },
  { name: 'uppercase', isMet: (password) => /\p{Lu}/u.test(password) },
  { name: 'digit', isMet: (password) => /\p{Nd}/u.test(password) },
  { name: 'symbol', isMet: (password) => /[\p{P}\p{S}]/u.test(password) },
  {
    name: 'bytes',
    isMet: (password) =>
      password !== '' && new TextEncoder().encode(password).length <= MAX_PASSWORD_BYTES,
  },
];

export function isGoodPassword(password: string): boolean {
  return passwordRules.every(({ isMet }) => isMet(password));
}

/** Returns true if a password does not meet the rules, which its field shows. */
export function newPasswordProblem(password: string): true | undefined {
  return isGoodPassword(password) ? undefined : true;
}

export function emailProblem(email: string): string | undefined {
  if (email === '') return register.noEmail;
  if (!email.includes('@') || email.length > MAX_EMAIL) return register.badEmail;
  return undefined;
}

export function usernameProblem(username: string): string | undefined {
  if (username === '') return register.noUsername;
  if (codePoints(username) > MAX_USERNAME) return register.longUsername;
  return undefined;
}
