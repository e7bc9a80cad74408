import type { Reason } from './reasons';

/** Everything that can go wrong with a call, as a closed set. Pages branch on the code alone. */
export type FailureCode =
  | 'invalid-token'
  | 'no-logged'
  | 'incorrect'
  | 'no-exist'
  | 'exist'
  | 'invalid-argument'
  | 'aborted'
  | 'resource-exhausted'
  /** The code of the call is gone from the server: the document is older than what is there. */
  | 'outdated'
  | 'failed';

/**
 * Goes to the console as it is, so it carries no payload, no header and no cause: those could hold
 * a password or a token.
 */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: FailureCode;
  /** How long the server asks to be left alone, in milliseconds. */
  readonly retryAfter: number | undefined;
  readonly reason: Reason | undefined;

  constructor(call: string, code: FailureCode, detail = '', retryAfter?: number, reason?: Reason) {
    super(`${call}: ${code}${detail && ` (${detail})`}`);
    this.code = code;
    this.retryAfter = retryAfter;
    this.reason = reason;
  }
}

/** The code of anything thrown; what is not a Failure is one that has no name of its own. */
export function failureCode(error: unknown): FailureCode {
  return error instanceof Failure ? error.code : 'failed';
}

/** The reason of anything thrown, where it has one that pages know. */
export function failureReason(error: unknown): Reason | undefined {
  return error instanceof Failure ? error.reason : undefined;
}
