/** Calls of log-ins with OpenID Connect, and about connections. */
import * as v from 'valibot';
import type { Account } from '../../lib/owner';
import { succeed, type CallOptions } from '../client';
import { Failure } from '../failure';
import { login, toLogin, type Login } from './login';
import { moment, OWNER_OUTCOMES } from './shared';

const connection = v.object({
  id: v.string(),
  issuer: v.string(),
  email: v.string(),
  created_at: moment,
  /** The minute of its last login; null if there was none after the first. */
  last_used_at: v.nullable(moment),
});
export type Connection = v.InferOutput<typeof connection>;

/** How the owner of an account logs in, besides passkeys. */
export interface Connections {
  has_password: boolean;
  connections: Connection[];
}

/** The offer to connect an account by its password. */
export interface OidcLink {
  link: string;
  /** The email address of the account. */
  email: string;
}

interface Response {
  code: string;
  state: string;
  iss: string | null;
  /** The secret of the login that began in this browser. */
  secret: string;
}

/** Returns the provider's URL for a login, or with a token, to confirm its session. */
export async function beginOidc(begun: { secret: string; token: string | null }): Promise<string> {
  const outcomes = ['off', 'unavailable', 'invalid token'] as const;
  const { data } = await succeed('beginOidc', begun, { url: v.string() }, outcomes);
  return data.url;
}

/** Logs in with the provider's response. */
export async function finishOidc(
  response: Response & { invitation: string | null; device: string | null },
): Promise<Login | OidcLink> {
  const link = { link: v.optional(v.string()), email: v.optional(v.string()) };
  const entries = { ...link, ...v.partial(v.object(login)).entries };
  const { data, date } = await succeed('finishOidc', response, entries, [
    'off',
    'unavailable',
    'refused',
    'unverified',
    'exist',
    'suspended',
    'closed',
    'invitation',
  ]);
  if (data.link !== undefined && data.email !== undefined) {
    return { link: data.link, email: data.email };
  }
  const begun = v.safeParse(v.object(login), data);
  if (!begun.success) throw new Failure('finishOidc', 'failed', 'neither a login nor a link');
  return toLogin(begun.output, date);
}

/** Confirms the session of an account with the provider's response. */
export async function confirmByProvider(response: Response & { token: string }): Promise<void> {
  await succeed('finishOidc', response, {}, [
    'off',
    'unavailable',
    'refused',
    'invalid token',
    'no logged',
  ]);
}

/** Connects an account by its password, and logs in. */
export async function linkOidc(request: {
  link: string;
  secret: string;
  password: string;
  device: string | null;
}): Promise<Login> {
  const outcomes = ['refused', 'incorrect', 'suspended'] as const;
  const { data, date } = await succeed('linkOidc', request, login, outcomes);
  return toLogin(data, date);
}

/** Returns the connections of the account, newest first, and whether it has a password. */
export async function listConnections(
  { token }: Account,
  options: CallOptions = {},
): Promise<Connections> {
  const entries = { has_password: v.boolean(), connections: v.array(connection) };
  return (await succeed('listConnections', { token }, entries, OWNER_OUTCOMES, options)).data;
}

export async function removeConnection(
  { token }: Account,
  id: string,
  password: string | null,
): Promise<void> {
  const outcomes = [...OWNER_OUTCOMES, 'incorrect', 'confirm', 'last login'] as const;
  await succeed('removeConnection', { token, id, password }, {}, outcomes);
}
