/** The five calls of the product, one function each. Loaded with the first of them. */
import * as v from 'valibot';
import { isCode } from '../lib/codes';
import { call, checked, datedCall, outcome, type CallOptions } from './client';
import { Failure } from './failure';
import type { Account, Owner } from '../lib/owner';
import { mapInSlices } from '../lib/slices';

/** What a call that is made for somebody says of them. */
function credentials(owner: Owner): { token: string | null } {
  return { token: owner.kind === 'account' ? owner.token : null };
}

const code = v.pipe(v.string(), v.check(isCode));

const createReply = v.variant('success', [
  v.object({ success: v.literal(true), code, short_link: code }),
  outcome('invalid token'),
]);

export async function createShortLink(
  link: { code: string; url: string },
  owner: Owner,
  options: CallOptions,
): Promise<string> {
  const payload = { ...link, ...credentials(owner) };
  const reply = await call('createShortLink', payload, createReply, options);
  if (!reply.success) throw new Failure('createShortLink', 'invalid-token');
  return reply.short_link;
}

const accessReply = v.object({
  success: v.literal(true),
  longUrl: v.array(v.object({ long_link: v.string() })),
});

/** The address a code leads to, or null where nothing is stored. */
export async function accessLink(shortCode: string, options: CallOptions): Promise<string | null> {
  const { longUrl } = await call('accessLink', { code: shortCode }, accessReply, options);
  return longUrl[0]?.long_link ?? null;
}

const verifyReply = v.variant('success', [
  v.object({
    success: v.literal(true),
    token: v.pipe(v.string(), v.nonEmpty()),
    expirationTimestamp: v.number(),
    username: v.string(),
    device: v.fallback(v.optional(v.string()), undefined),
  }),
  outcome('incorrect', 'no exist'),
]);

export interface Credentials {
  email: string;
  password: string;
  /** The mark of an earlier log-in in this browser; left out where there is none. */
  device?: string;
}

export interface Login {
  token: string;
  /** Epoch milliseconds of this browser's clock. */
  expirationTimestamp: number;
  username: string;
  /** The mark to send with the next log-in, where the server gives one. */
  device: string | undefined;
}

export async function verifyUser(credentials: Credentials): Promise<Login> {
  const { data: reply, date } = await datedCall('verifyUser', credentials, verifyReply);
  if (!reply.success) {
    throw new Failure('verifyUser', reply.error === 'incorrect' ? 'incorrect' : 'no-exist');
  }
  const { token, expirationTimestamp, username, device } = reply;
  return {
    token,
    expirationTimestamp: byOwnClock(expirationTimestamp, date),
    username,
    device,
  };
}

/** The two clocks may be hours apart, so what is left is measured by the server's alone. */
function byOwnClock(expirationTimestamp: number, serverDate: number): number {
  if (Number.isNaN(serverDate)) return expirationTimestamp;
  // The second that was cut off the date may have passed: rather a second too early.
  return Date.now() + expirationTimestamp - (serverDate + 1000);
}

const registerReply = v.variant('success', [
  v.object({ success: v.literal(true) }),
  outcome('exist'),
]);

export async function registerUser(user: {
  email: string;
  password: string;
  salt: string;
  username: string;
}): Promise<void> {
  const reply = await call('registerUser', user, registerReply);
  if (!reply.success) throw new Failure('registerUser', 'exist');
}

const profileReply = v.variant('success', [
  v.object({ success: v.literal(true), data: v.array(v.unknown()) }),
  outcome('invalid token', 'no logged'),
]);

const profileLink = v.object({
  short_link: code,
  long_link: v.string(),
  views: v.nullable(v.number()),
  created_at: v.string(),
});

export interface ProfileLink {
  short_link: string;
  long_link: string;
  /** null while they are not known. */
  views: number | null;
  /** ISO 8601, UTC. */
  created_at: string;
}

export async function showProfile(
  owner: Account,
  { signal }: { signal: AbortSignal },
): Promise<ProfileLink[]> {
  const reply = await call('showProfile', credentials(owner), profileReply, { signal });
  if (!reply.success) {
    throw new Failure('showProfile', reply.error === 'no logged' ? 'no-logged' : 'invalid-token');
  }
  // Of an account with many links it takes long: the page lives meanwhile.
  return mapInSlices(reply.data, (link) => checked('showProfile', profileLink, link), signal);
}
