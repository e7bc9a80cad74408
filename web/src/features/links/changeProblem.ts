import { failureReason } from '../../api';
import { messages, problems } from './messages';

/** Returns the text for a failed change. */
export function changeProblem(error: unknown): string {
  const reason = failureReason(error);
  return reason && reason in problems
    ? problems[reason as keyof typeof problems]
    : messages.notSaved;
}
