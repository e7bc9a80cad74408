import { Failure } from '../../api';
import { fromNow } from '../../lib/format';
import { messages } from './messages';

/** Returns the text for a failure without a text of its own. */
export function failureText(error: unknown): string {
  const { code, retryAfter } =
    error instanceof Failure ? error : { code: 'failed', retryAfter: undefined };
  if (code === 'outdated') return messages.outdated;
  return retryAfter === undefined ? messages.failed : messages.tooMany(fromNow(retryAfter));
}
