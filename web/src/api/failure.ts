import type { Reason } from './reasons';

/** Codes of failed calls, a closed set. Pages branch on the code alone. */
export type FailureCode =
  | 'invalid-token'
  | 'no-logged'
  | 'incorrect'
  | 'no-exist'
  | 'exist'
  /** Registration needs an invitation, and the one given, if any, is not valid. */
  | 'invitation'
  | 'closed'
  | 'suspended'
  /** The caller is no administrator. */
  | 'not-allowed'
  /** The session must confirm its password or a passkey first. */
  | 'confirm'
  | 'last-administrator'
  /** No OpenID Connect provider is configured. */
  | 'off'
  /** The OpenID Connect provider does not answer as it should. */
  | 'unavailable'
  | 'refused'
  /** The OpenID Connect provider knows no verified email address. */
  | 'unverified'
  | 'last-login'
  | 'invalid-argument'
  | 'aborted'
  | 'resource-exhausted'
  /**
   * The server no longer has the code of the call: the document is older than the deployed release.
   */
  | 'outdated'
  | 'failed';

/**
 * A failed call.
 *
 * It is logged to the console as it is. It therefore carries no payload, no header and no cause,
 * which could contain a password or a token.
 */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: FailureCode;
  /** Milliseconds that the server asks to wait before the next call. */
  readonly retryAfter: number | undefined;
  readonly reason: Reason | undefined;

  constructor(call: string, code: FailureCode, detail = '', retryAfter?: number, reason?: Reason) {
    super(`${call}: ${code}${detail && ` (${detail})`}`);
    this.code = code;
    this.retryAfter = retryAfter;
    this.reason = reason;
  }
}

/** Returns the failure code of any thrown value: 'failed' if it is not a Failure. */
export function failureCode(error: unknown): FailureCode {
  return error instanceof Failure ? error.code : 'failed';
}

/** Returns the reason of any thrown value, if it has one that pages know. */
export function failureReason(error: unknown): Reason | undefined {
  return error instanceof Failure ? error.reason : undefined;
}
