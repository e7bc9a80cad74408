import { Failure } from '../../api';
import { fromNow } from '../../lib/format';
import { MAX_KEYS } from './limits';
import { form, messages } from './messages';

/** Returns the text for a call that failed. */
export function failureText(error: unknown): string {
  if (!(error instanceof Failure)) return messages.failed;
  if (error.reason === 'TOO_MANY_KEYS') return messages.full(MAX_KEYS);
  if (error.reason === 'INVALID_KEY_NAME') return form.noName;
  return error.retryAfter === undefined
    ? messages.failed
    : messages.tooMany(fromNow(error.retryAfter));
}
