/** The five calls of the product, one function each. Loaded with the first of them. */
import * as v from 'valibot';
import { call, outcome, type CallOptions } from './client';
import { Failure } from './failure';

const code = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{8}$/));

const createReply = v.variant('success', [
  v.object({ success: v.literal(true), code, short_link: code }),
  outcome('invalid token'),
]);

export async function createShortLink(
  link: { code: string; url: string; token: string | null },
  options: CallOptions,
): Promise<string> {
  const reply = await call('createShortLink', link, createReply, options);
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
  }),
  outcome('incorrect', 'no exist'),
]);

export interface Login {
  token: string;
  expirationTimestamp: number;
  username: string;
}

export async function verifyUser(credentials: { email: string; password: string }): Promise<Login> {
  const reply = await call('verifyUser', credentials, verifyReply);
  if (reply.success) return reply;
  throw new Failure('verifyUser', reply.error === 'incorrect' ? 'incorrect' : 'no-exist');
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
  v.object({
    success: v.literal(true),
    data: v.array(
      v.object({
        short_link: code,
        long_link: v.string(),
        views: v.number(),
        created_at: v.string(),
      }),
    ),
  }),
  outcome('invalid token', 'no logged'),
]);

export interface ProfileLink {
  short_link: string;
  long_link: string;
  views: number;
  /** ISO 8601, UTC. */
  created_at: string;
}

export async function showProfile(token: string, options: CallOptions): Promise<ProfileLink[]> {
  const reply = await call('showProfile', { token }, profileReply, options);
  if (reply.success) return reply.data;
  throw new Failure('showProfile', reply.error === 'no logged' ? 'no-logged' : 'invalid-token');
}
