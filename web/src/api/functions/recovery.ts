/** Calls about recovery codes. */
import * as v from 'valibot';
import type { Account } from '../../lib/owner';
import { succeed, type CallOptions } from '../client';
import { OWNER_OUTCOMES, moment } from './shared';

/** Replaces the recovery codes of the account. Returns the new ones, which are not stored. */
export async function createRecoveryCodes(
  { token }: Account,
  password: string | null,
): Promise<string[]> {
  const entries = { codes: v.array(v.string()) };
  const outcomes = [...OWNER_OUTCOMES, 'incorrect', 'confirm'] as const;
  return (await succeed('createRecoveryCodes', { token, password }, entries, outcomes)).data.codes;
}

const recoveryCodes = {
  left: v.number(),
  /** Null if there are none, or if it is not known. */
  created_at: v.optional(v.nullable(moment), null),
};
export interface RecoveryCodeCount {
  left: number;
  created_at: string | null;
}

/** Returns how many recovery codes of the account are left, and when they were created. */
export async function countRecoveryCodes(
  { token }: Account,
  options: CallOptions = {},
): Promise<RecoveryCodeCount> {
  return (await succeed('countRecoveryCodes', { token }, recoveryCodes, OWNER_OUTCOMES, options))
    .data;
}
