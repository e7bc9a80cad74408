/** What calls of several subjects have in common: parts of payloads and replies, and outcomes. */
import * as v from 'valibot';
import { isCode } from '../../lib/codes';
import type { Owner } from '../../lib/owner';

/** Returns the credentials of an owner as fields of a payload. */
export function credentials(owner: Owner): { token: string | null; guest: string | null } {
  return {
    token: owner.kind === 'account' ? owner.token : null,
    guest: owner.kind === 'guest' ? owner.key : null,
  };
}

export const code = v.pipe(v.string(), v.check(isCode));
export const moment = v.pipe(v.string(), v.isoTimestamp());

/** Outcomes of calls that need an owner. */
export const OWNER_OUTCOMES = ['invalid token', 'no logged'] as const;
/** Outcomes of calls that need a link of the owner. */
export const LINK_OUTCOMES = [...OWNER_OUTCOMES, 'no exist'] as const;

/** Options of calls that change data. */
export const CHANGE = { keepalive: true };

export const blockReason = v.picklist(['phishing', 'malware', 'spam', 'illegal', 'other']);
/** Why the operator blocked a link. */
export type BlockReason = v.InferOutput<typeof blockReason>;

/** States in which a link does not redirect. */
export const endedState = v.picklist(['expired', 'removed', 'blocked']);
export const linkState = v.picklist(['active', ...endedState.options]);
export type LinkState = v.InferOutput<typeof linkState>;

/** The session that created something, as it was then. It may have ended. */
const creator = v.object({
  id: v.string(),
  created_at: moment,
  /** Empty if unknown, like `system`. */
  browser: v.string(),
  system: v.string(),
});
/** Null if it is not known. A server of the previous version does not send it. */
export const created_by = v.optional(v.nullable(creator), null);
