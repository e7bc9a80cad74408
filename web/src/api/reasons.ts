/**
 * Reasons for which the server refuses a call and that a page can explain.
 *
 * Separate from failure.ts, which loads with every page.
 */
export const reasons = [
  'ACCOUNT_FULL',
  'CODE_TAKEN',
  'INVALID_ADDRESS',
  'INVALID_CAUSE',
  'INVALID_CODE',
  'INVALID_CONTACT',
  'INVALID_CURSOR',
  'INVALID_DETAILS',
  'INVALID_DOMAIN',
  'INVALID_EMAIL',
  'INVALID_ENDED_URL',
  'INVALID_EXPIRY',
  'INVALID_KEY_NAME',
  'INVALID_PASSKEY',
  'INVALID_TAGS',
  'INVALID_TIMEZONE',
  'INVALID_TITLE',
  'INVALID_URL',
  'TOO_MANY_KEYS',
  'TOO_MANY_LINKS',
  'TOO_MANY_PASSKEYS',
  'TOO_MANY_URLS',
  'URL_REFUSED',
] as const;
export type Reason = (typeof reasons)[number];
