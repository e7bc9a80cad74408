import { Failure } from '../../api';
import { fromNow } from '../../lib/format';

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

/** Shown above the log-in to whoever was on a page of an account when the session ended. */
export const sessionEnded = 'Your session has ended. Please log in again.';

/** Shown in the form when what sends it is gone from the server. */
const outdated = 'There is a newer version of this page. Please load it again.';

/** Shown in the form when something failed that the specification has no name for. */
export function tryAgain(error: unknown): string {
  const { code, retryAfter } =
    error instanceof Failure ? error : { code: 'failed', retryAfter: undefined };
  if (code === 'outdated') return outdated;
  if (retryAfter === undefined) return 'That did not work. Please try again.';
  return `That did not work: too many tries. Please try again ${fromNow(retryAfter)}.`;
}

/** Of one's own account. */
export const accountMessages = {
  noPassword: 'Please enter your password',
  changed: 'Your password was changed. You are logged out everywhere else.',
  goes: 'Your account, all its links and their views go for good; their short addresses stop working and are never given out again.',
  removed: 'Your account was removed.',
} as const;
