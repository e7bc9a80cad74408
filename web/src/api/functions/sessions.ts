/** Calls about the sessions of an account. */
import * as v from 'valibot';
import type { Account } from '../../lib/owner';
import { succeed, type CallOptions } from '../client';
import { CHANGE, OWNER_OUTCOMES, moment } from './shared';

const listedSession = v.object({
  id: v.string(),
  created_at: moment,
  /** In whole hours. */
  last_seen_at: moment,
  /** Empty if unknown, like `system`. */
  browser: v.string(),
  system: v.string(),
  current: v.boolean(),
});
export type Session = v.InferOutput<typeof listedSession>;

/** Returns the sessions of the account, newest first. */
export async function listSessions(
  { token }: Account,
  options: CallOptions = {},
): Promise<Session[]> {
  const entries = { sessions: v.array(listedSession) };
  return (await succeed('listSessions', { token }, entries, OWNER_OUTCOMES, options)).data.sessions;
}

export async function endSession({ token }: Account, id: string): Promise<void> {
  await succeed('endSession', { token, id }, {}, OWNER_OUTCOMES, CHANGE);
}

/** Ends the session of a token. */
export async function endOwnSession(token: string): Promise<void> {
  await succeed('endSession', { token, id: null }, {}, OWNER_OUTCOMES, CHANGE);
}

/** Ends all sessions of the account but this one. */
export async function endOtherSessions({ token }: Account): Promise<void> {
  await succeed('endOtherSessions', { token }, {}, OWNER_OUTCOMES, CHANGE);
}
