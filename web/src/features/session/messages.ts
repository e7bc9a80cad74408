/** Texts of the specification that logging in and registering own, to the letter. */
export const loginMessages = {
  incorrect: 'Incorrect password',
  'no-exist': 'No accound found with this email',
} as const;

export const registerMessages = {
  exist: 'This email is already registered',
  noEmail: 'Please enter an email address',
  noUsername: 'Please enter a username',
  longUsername: 'Username need to have less than 30 characters',
  badEmail: 'Please enter a valid email',
} as const;

/** Shown in the form when something failed that the specification has no name for. */
export function tryAgain(retryAfter?: number): string {
  if (retryAfter === undefined) return 'That did not work. Please try again.';
  const minutes = Math.max(1, Math.ceil(retryAfter / 60_000));
  const wait = new Intl.NumberFormat('en', {
    style: 'unit',
    unit: 'minute',
    unitDisplay: 'long',
  }).format(minutes);
  return `That did not work: too many tries. Please try again in ${wait}.`;
}
