/** Calls about passkeys. */
import * as v from 'valibot';
import type { Account } from '../../lib/owner';
import { succeed, type CallOptions } from '../client';
import { requestLogin, type Login } from './login';
import { CHANGE, created_by, OWNER_OUTCOMES, moment } from './shared';

const passkey = v.object({
  id: v.string(),
  name: v.string(),
  created_at: moment,
  /** The minute of its last login; null if there was none. */
  last_used_at: v.nullable(moment),
  created_by,
});
export type Passkey = v.InferOutput<typeof passkey>;

/** Returns the passkeys of the account, newest first. */
export async function listPasskeys(
  { token }: Account,
  options: CallOptions = {},
): Promise<Passkey[]> {
  const entries = { passkeys: v.array(passkey) };
  return (await succeed('listPasskeys', { token }, entries, OWNER_OUTCOMES, options)).data.passkeys;
}

/** Returns the options with which this browser creates a passkey. The browser validates them. */
export async function beginPasskey(
  { token }: Account,
  password: string | null,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const entries = { options: v.custom<PublicKeyCredentialCreationOptionsJSON>(isObject) };
  const outcomes = [...OWNER_OUTCOMES, 'incorrect', 'confirm'] as const;
  return (await succeed('beginPasskey', { token, password }, entries, outcomes)).data.options;
}

/** Adds a passkey that this browser created. */
export async function finishPasskey(
  { token }: Account,
  passkeyToAdd: { name: string; credential: unknown },
): Promise<void> {
  await succeed('finishPasskey', { token, ...passkeyToAdd }, {}, OWNER_OUTCOMES, CHANGE);
}

export async function removePasskey(
  { token }: Account,
  id: string,
  password: string | null,
): Promise<void> {
  await succeed('removePasskey', { token, id, password }, {}, [
    ...OWNER_OUTCOMES,
    'incorrect',
    'confirm',
    'last login',
  ]);
}

/** Returns the options with which this browser logs in with a passkey. */
export async function beginLogin(
  options: CallOptions = {},
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const entries = { options: v.custom<PublicKeyCredentialRequestOptionsJSON>(isObject) };
  return (await succeed('beginLogin', {}, entries, [], options)).data.options;
}

/** Logs in with the answer of a passkey. */
export function finishLogin(login: { credential: unknown; device: string | null }): Promise<Login> {
  return requestLogin('finishLogin', login);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
