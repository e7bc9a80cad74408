/** Calls about API keys. */
import * as v from 'valibot';
import type { Account } from '../../lib/owner';
import { succeed, type CallOptions } from '../client';
import { CHANGE, created_by, OWNER_OUTCOMES, moment } from './shared';

/** What an API key may do. */
const scopes = ['links:read', 'links:write', 'statistics:read'] as const;
export type Scope = (typeof scopes)[number];

const apiKey = v.object({
  id: v.string(),
  name: v.string(),
  /** The first characters of the key. */
  prefix: v.string(),
  scopes: v.array(v.picklist(scopes)),
  created_at: moment,
  expires_at: v.nullable(moment),
  last_used_at: v.nullable(moment),
  created_by,
});
export type ApiKey = v.InferOutput<typeof apiKey>;

/** Creates an API key of the account. Returns the key, which no other call returns. */
export async function createKey(
  { token }: Account,
  key: {
    password: string | null;
    name: string;
    scopes: readonly Scope[];
    expires_at: string | null;
  },
): Promise<string> {
  const entries = { id: v.string(), key: v.pipe(v.string(), v.nonEmpty()) };
  const outcomes = [...OWNER_OUTCOMES, 'incorrect', 'confirm'] as const;
  return (await succeed('createKey', { token, ...key }, entries, outcomes)).data.key;
}

/** Returns the API keys of the account, newest first. */
export async function listKeys({ token }: Account, options: CallOptions = {}): Promise<ApiKey[]> {
  const entries = { keys: v.array(apiKey) };
  return (await succeed('listKeys', { token }, entries, OWNER_OUTCOMES, options)).data.keys;
}

/** Revokes an API key for good. */
export async function revokeKey({ token }: Account, id: string): Promise<void> {
  await succeed('revokeKey', { token, id }, {}, OWNER_OUTCOMES, CHANGE);
}
