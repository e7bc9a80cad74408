import type { UrlProblem } from './url';

/** Texts of the specification that the shortener owns, to the letter. */
export const urlMessages: Record<UrlProblem | 'blocked', string> = {
  invalid: 'Enter a valid URL',
  'too-long': 'URL is too long',
  'no-scheme': 'Incluse https:// or http:// to url',
  /** What leads there is on a list of the server's. */
  blocked: 'This link cannot be shortened.',
};

export const invalidToken = 'Invalid user token';
