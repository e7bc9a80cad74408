import type { LinkState } from '../../api';
import type { EndingProblem } from './endings';
import type { UrlProblem } from './url';

/** Texts of the specification that the shortener owns, to the letter. */
export const urlMessages: Record<UrlProblem, string> = {
  invalid: 'Enter a valid URL',
  'too-long': 'URL is too long',
  'no-scheme': 'Incluse https:// or http:// to url',
};

export const invalidToken = 'Invalid user token';

/** Of an ending that somebody chooses; the first one to the letter. */
export const endingMessages: Record<EndingProblem | 'taken' | 'rule' | 'unknown', string> = {
  taken: 'This ending is taken.',
  reserved: 'This ending is reserved for pages of this site.',
  length: 'An ending has 4 to 32 characters.',
  letters: 'An ending has letters from A to Z, digits, - and _ only.',
  rule: '4 to 32 letters from A to Z, digits, - or _. Capital and small letters are different.',
  unknown: 'Whether it is free is not known just now.',
};

/** Where the links of a guest did not come. */
export const loadFailed = 'Your earlier links did not load.';

/** Of a link that was not removed, or not restored. */
export const changeFailed = {
  remove: 'The link was not removed. Please try again.',
  restore: 'The link was not restored. Please try again.',
  gone: 'This link is gone.',
} as const;

/** Of a link that leads nowhere now. */
export const stateWords: Record<Exclude<LinkState, 'active'>, string> = {
  expired: 'Ended',
  removed: 'Removed',
  blocked: 'Blocked',
};
