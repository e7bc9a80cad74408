/** Calls of the backend, one function each. This module loads with the first call. */
import * as v from 'valibot';
import { isCode } from '../lib/codes';
import { call, succeed, type CallOptions } from './client';
import type { Account, Guest, Owner } from '../lib/owner';

/** Returns the credentials of an owner as fields of a payload. */
function credentials(owner: Owner): { token: string | null; guest: string | null } {
  return {
    token: owner.kind === 'account' ? owner.token : null,
    guest: owner.kind === 'guest' ? owner.key : null,
  };
}

const code = v.pipe(v.string(), v.check(isCode));
const moment = v.pipe(v.string(), v.isoTimestamp());
const isNoOwner = ['invalid token', 'no logged'] as const;
const isNotTheirs = [...isNoOwner, 'no exist'] as const;
/** Options of calls that change data. */
const act = { outlives: true };

export async function createShortLink(
  link: { code: string; url: string },
  owner: Owner,
  options: CallOptions,
): Promise<string> {
  const payload = { ...link, ...credentials(owner) };
  const { data } = await succeed(
    'createShortLink',
    payload,
    { code, short_link: code },
    ['invalid token'],
    options,
  );
  return data.short_link;
}

const blockReason = v.picklist(['phishing', 'malware', 'spam', 'illegal', 'other']);
/** Why the operator blocked a link. */
export type BlockReason = v.InferOutput<typeof blockReason>;

const endedState = v.picklist(['expired', 'removed', 'blocked']);

const accessReply = v.object({
  success: v.literal(true),
  longUrl: v.array(v.object({ long_link: v.string() })),
  state: v.optional(endedState),
  reason: v.optional(blockReason),
});

/** The resolution of a code. */
export interface Access {
  state: LinkState;
  /** Destination; null if the link does not redirect. */
  url: string | null;
  /** Why it is blocked; null in every other state. */
  reason: BlockReason | null;
}

/** Resolves a code. Returns null if no link ever had it or the link was deleted permanently. */
export async function accessLink(shortCode: string, options: CallOptions): Promise<Access | null> {
  const reply = await call('accessLink', { code: shortCode }, accessReply, options);
  const url = reply.longUrl[0]?.long_link ?? null;
  if (reply.state === undefined && url === null) return null;
  return { state: reply.state ?? 'active', url, reason: reply.reason ?? null };
}

const scanCode = v.pipe(v.string(), v.regex(/^[0-9A-Z-]{8}$/));

const link = v.object({
  code,
  short_url: v.optional(v.string()),
  long_link: v.string(),
  title: v.string(),
  tags: v.array(v.string()),
  state: v.picklist(['active', ...endedState.options]),
  reason: v.nullable(blockReason),
  created_at: moment,
  changed_at: v.nullable(moment),
  expires_at: v.nullable(moment),
  ended_url: v.nullable(v.string()),
  public_statistics: v.boolean(),
  views: v.nullable(v.number()),
  bots: v.nullable(v.number()),
  scan_code: v.optional(scanCode),
  recent: v.optional(v.nullable(v.array(v.number()))),
});

/**
 * A link as its owner sees it.
 *
 * Times are ISO 8601 in UTC. `short_url` is absent if the gateway is older than this page.
 * `changed_at` is the last change of the destination. `views` (of people) and `bots` are null while
 * unknown. `scan_code` is present once the link has one. `recent` contains the people of each of
 * the last 30 UTC days, oldest first. It is present only in a list that requested it, and null
 * while unknown.
 */
export type Link = v.InferOutput<typeof link>;
export type LinkState = Link['state'];

/** Returns a new link with default fields, for display until the server returns the stored one. */
export function newLink(
  shortCode: string,
  url: string,
  created_at = new Date().toISOString(),
): Link {
  return {
    code: shortCode,
    long_link: url,
    title: '',
    tags: [],
    state: 'active',
    reason: null,
    created_at,
    changed_at: null,
    expires_at: null,
    ended_url: null,
    public_statistics: false,
    views: 0,
    bots: 0,
  };
}

/** Names of the fields of a link. */
export const linkFields = Object.keys(link.entries) as (keyof Link)[];

const formerAddress = v.object({ long_link: v.string(), until: moment });

/** An earlier destination and the time at which it was replaced. */
export type FormerAddress = v.InferOutput<typeof formerAddress>;

/** Returns a link of an owner and its earlier destinations, latest first. */
export async function showLink(
  owner: Owner,
  shortCode: string,
  options: CallOptions = {},
): Promise<{ link: Link; history: FormerAddress[] }> {
  const payload = { ...credentials(owner), code: shortCode };
  const entries = { link, history: v.array(formerAddress) };
  return (await succeed('showLink', payload, entries, isNotTheirs, options)).data;
}

export interface LinkQuery {
  /** Text to search for in the code, the destination, the title and the tags; '' for all links. */
  text: string;
  /** null for every state except removed. */
  state: LinkState | null;
  order: 'newest' | 'oldest' | 'most viewed';
  /** Maximum links per page, at most and by default 100. */
  limit?: number;
  /** Whether each link has `recent`. */
  recent?: boolean;
}

export interface LinkPage {
  links: Link[];
  /** Number of links that match the query, on all pages. */
  total: number;
  /** Start of the next page; null on the last page. */
  cursor: string | null;
}

/** Maximum links per page that the server accepts. */
const PAGE = 100;

/** Returns a page of an owner's links. null for `cursor` means the first page. */
export async function showLinks(
  owner: Owner,
  { text, state, order, limit = PAGE, recent = false }: LinkQuery,
  cursor: string | null,
  options: CallOptions = {},
): Promise<LinkPage> {
  const payload = {
    ...credentials(owner),
    query: text === '' ? null : text,
    state,
    order,
    limit,
    cursor,
    recent,
  };
  const entries = { links: v.array(link), total: v.number(), cursor: v.nullable(v.string()) };
  return (await succeed('showLinks', payload, entries, isNoOwner, options)).data;
}

type Changeable = 'title' | 'tags' | 'expires_at' | 'ended_url' | 'public_statistics';

/**
 * Changes of a link. Absent fields do not change. `expires_at` is ISO 8601 with an offset, or null
 * for never.
 */
export type LinkChanges = Partial<Pick<Link, Changeable>> & { url?: string };

export async function changeLink(
  owner: Owner,
  shortCode: string,
  changes: LinkChanges,
): Promise<Link> {
  const payload = { ...credentials(owner), code: shortCode, changes };
  return (await succeed('changeLink', payload, { link }, isNotTheirs, act)).data.link;
}

/**
 * Returns the scan code of a link, a second code that makes smaller QR symbols. Creates one if the
 * link has none.
 */
export async function createScanCode(
  owner: Owner,
  shortCode: string,
  options: CallOptions = {},
): Promise<string> {
  const payload = { ...credentials(owner), code: shortCode };
  const entries = { scan_code: scanCode };
  return (await succeed('createScanCode', payload, entries, isNotTheirs, options)).data.scan_code;
}

export async function removeLinks(owner: Owner, codes: readonly string[]): Promise<void> {
  const payload = { ...credentials(owner), codes };
  await succeed('removeLinks', payload, { removed: v.array(code) }, isNotTheirs, act);
}

export async function restoreLinks(owner: Owner, codes: readonly string[]): Promise<void> {
  const payload = { ...credentials(owner), codes };
  await succeed('restoreLinks', payload, { restored: v.array(code) }, isNotTheirs, act);
}

/** A period that ends now. */
export type RecentSpan = '24 hours' | '7 days' | '30 days' | '90 days' | '12 months' | 'all';
/** A period of days such as `2026-11-22`, both inclusive. */
export interface Dates {
  from: string;
  to: string;
}
export type Span = RecentSpan | Dates;

export interface StatisticsQuery {
  /** null for all links of the owner. */
  code: string | null;
  span: Span;
  /** IANA name of the time zone. */
  timezone: string;
}

const figures = v.object({ people: v.number(), bots: v.number(), visitors: v.number() });
const date = v.pipe(v.string(), v.isoDate());
const names = v.array(v.object({ name: v.string(), people: v.number() }));
const statistics = {
  range: v.object({
    from: date,
    to: date,
    step: v.picklist(['hour', 'day', 'week', 'month']),
    timezone: v.string(),
  }),
  totals: figures,
  previous: v.nullable(figures),
  series: v.array(
    v.object({
      start: moment,
      people: v.number(),
      bots: v.number(),
      visitors: v.nullable(v.number()),
    }),
  ),
  breakdowns: v.object({
    referrer: names,
    device: names,
    browser: names,
    system: names,
    language: names,
    country: names,
    source: names,
  }),
  top: v.optional(v.array(v.object({ code, people: v.number() }))),
  kept_from: v.optional(date),
};

/**
 * Visits in a period.
 *
 * `previous` is the period of the same length before it, null for 'all'. `series` contains every
 * step from the first to the last, each with its `start` in the time zone. `visitors` are null if a
 * step is an hour. `breakdowns` are sorted by number, largest first. The name '' stands for people
 * whose value is unknown, and `*` for those beyond the first hundred names of a day. `top` is
 * present only for all links. `kept_from` is present only if the period begins before it: data of
 * earlier days is no longer stored. `previous` is null if it would need such data.
 */
export type Statistics = v.InferOutput<v.ObjectSchema<typeof statistics, undefined>>;
export type Dimension = keyof Statistics['breakdowns'];

/**
 * Returns the statistics of one link or of all links. Public statistics need no owner (`nobody`).
 */
export async function showStatistics(
  owner: Owner,
  { code: shortCode, span, timezone }: StatisticsQuery,
  options: CallOptions = {},
): Promise<Statistics> {
  const payload = { ...credentials(owner), code: shortCode, range: span, timezone };
  return (await succeed('showStatistics', payload, statistics, isNotTheirs, options)).data;
}

const preview = v.object({
  code,
  long_link: v.nullish(v.string()),
  host: v.nullish(v.string()),
  state: link.entries.state,
  reason: v.nullable(blockReason),
  created_at: moment,
  changed_at: v.nullable(moment),
  title: v.nullish(v.string()),
  warnings: v.array(v.string()),
});

/**
 * A public preview of a link.
 *
 * Only an active link has `long_link` and `title`. It and a blocked link have `host`, in ASCII as in
 * requests. A later server version may send `warnings` that this page does not know.
 */
export type Preview = v.InferOutput<typeof preview>;

/**
 * Returns the preview of a link without counting a visit. Returns null if no link ever had the code
 * or the link was deleted permanently.
 */
export async function previewLink(
  shortCode: string,
  options: CallOptions = {},
): Promise<Preview | null> {
  const reply = v.object({ success: v.literal(true), preview: v.nullable(preview) });
  return (await call('previewLink', { code: shortCode }, reply, options)).preview;
}

export interface LinkReport {
  code: string;
  reason: BlockReason;
  /** '' for none. */
  details: string;
  /** Email address of the reporter; '' for none. */
  contact: string;
}

/** Reports a link to the operator. */
export async function reportLink({ contact, ...report }: LinkReport): Promise<void> {
  const payload = { ...report, contact: contact === '' ? null : contact };
  await succeed('reportLink', payload, { report: v.string() }, ['no exist'], act);
}

/** Moves a guest's links to an account. Returns the number of links moved by this call. */
export async function claimLinks(account: Account, guest: Guest): Promise<number> {
  const payload = { token: account.token, guest: guest.key };
  const entries = { claimed: v.number() };
  return (await succeed('claimLinks', payload, entries, isNoOwner, act)).data.claimed;
}

const verdict = v.picklist([
  'new',
  'exists',
  'taken',
  'reserved',
  'not a code',
  'refused',
  'not http',
  'duplicate',
  'unreadable',
]);

/** Verdict of an import on a row. Only `new` creates a link. */
export type Verdict = v.InferOutput<typeof verdict>;

/** A link to check; `row` identifies it within its import. */
export interface CheckedRow {
  row: number;
  code: string | null;
  url: string;
}

export interface ImportedRow extends CheckedRow {
  title: string;
  tags: string[];
  created_at: string | null;
  expires_at: string | null;
}

/** Returns the verdicts of an import on rows, without writing anything. */
export async function checkImport(
  { token }: Account,
  rows: readonly CheckedRow[],
  options: CallOptions = {},
): Promise<{ row: number; verdict: Verdict }[]> {
  const entries = { verdicts: v.array(v.object({ row: v.number(), verdict })) };
  const payload = { token, rows };
  return (await succeed('checkImport', payload, entries, isNoOwner, options)).data.verdicts;
}

const importResult = v.object({ row: v.number(), verdict, code: v.nullable(v.string()) });

/** `code` is the code of the account's link to the destination, null if there is none. */
export type ImportResult = v.InferOutput<typeof importResult>;

/** Imports rows. A row that was sent before returns the same result again. */
export async function importLinks(
  { token }: Account,
  importId: string,
  rows: readonly ImportedRow[],
  options: CallOptions = {},
): Promise<ImportResult[]> {
  const entries = { results: v.array(importResult) };
  const payload = { token, import_id: importId, rows };
  return (await succeed('importLinks', payload, entries, isNoOwner, options)).data.results;
}

/** Removes the unchanged links of an import; returns how many it has removed so far. */
export async function undoImport({ token }: Account, importId: string): Promise<number> {
  const payload = { token, import_id: importId };
  return (await succeed('undoImport', payload, { removed: v.number() }, isNotTheirs)).data.removed;
}

const pastImport = v.object({
  import_id: v.string(),
  started_at: moment,
  links: v.number(),
  removed: v.number(),
});

/**
 * An import of the last 30 days, with the number of links it created and of those that undoing
 * removed.
 */
export type PastImport = v.InferOutput<typeof pastImport>;

/** Returns the imports that can be undone, newest first. */
export async function listImports(
  { token }: Account,
  options: CallOptions = {},
): Promise<PastImport[]> {
  const entries = { imports: v.array(pastImport) };
  return (await succeed('listImports', { token }, entries, isNoOwner, options)).data.imports;
}

/** What an API key may do. */
const scopes = ['links:read', 'links:write', 'statistics:read'] as const;
export type Scope = (typeof scopes)[number];

/** The session that created something, as it was then. It may have ended. */
const creator = v.object({
  id: v.string(),
  created_at: moment,
  /** Empty if unknown, like `system`. */
  browser: v.string(),
  system: v.string(),
});
export type Creator = v.InferOutput<typeof creator>;
/** Null if it is not known. A server of the previous version does not send it. */
const created_by = v.optional(v.nullable(creator), null);

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
  key: { password: string; name: string; scopes: readonly Scope[]; expires_at: string | null },
): Promise<string> {
  const entries = { id: v.string(), key: v.pipe(v.string(), v.nonEmpty()) };
  const outcomes = [...isNoOwner, 'incorrect'] as const;
  return (await succeed('createKey', { token, ...key }, entries, outcomes)).data.key;
}

/** Returns the API keys of the account, newest first. */
export async function listKeys({ token }: Account, options: CallOptions = {}): Promise<ApiKey[]> {
  const entries = { keys: v.array(apiKey) };
  return (await succeed('listKeys', { token }, entries, isNoOwner, options)).data.keys;
}

/** Revokes an API key for good. */
export async function revokeKey({ token }: Account, id: string): Promise<void> {
  await succeed('revokeKey', { token, id }, {}, isNoOwner, act);
}

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
  return (await succeed('listSessions', { token }, entries, isNoOwner, options)).data.sessions;
}

export async function endSession({ token }: Account, id: string): Promise<void> {
  await succeed('endSession', { token, id }, {}, isNoOwner, act);
}

/** Ends the session of a token. */
export async function endOwnSession(token: string): Promise<void> {
  await succeed('endSession', { token, id: null }, {}, isNoOwner, act);
}

/** Ends all sessions of the account but this one. */
export async function endOtherSessions({ token }: Account): Promise<void> {
  await succeed('endOtherSessions', { token }, {}, isNoOwner, act);
}

const session = {
  token: v.pipe(v.string(), v.nonEmpty()),
  expirationTimestamp: v.number(),
};

interface NewPassword {
  /** A bcrypt hash, and its salt. */
  new_password: string;
  new_salt: string;
  /** Whether to revoke API keys and passkeys; false by default. */
  revoke?: boolean;
}

export interface Credentials {
  email: string;
  password: string;
  /** Device token of an earlier login in this browser; null requests a first one. */
  device: string | null;
}

export interface Login {
  token: string;
  /** Epoch milliseconds of this browser's clock. */
  expirationTimestamp: number;
  username: string;
  /** Device token to send with the next login; '' for none. */
  device: string;
}

export function verifyUser(credentials: Credentials): Promise<Login> {
  return startSession('verifyUser', credentials);
}

async function startSession(name: 'verifyUser' | 'finishLogin', payload: object): Promise<Login> {
  const entries = { ...session, username: v.string(), device: v.string() };
  const { data, date } = await succeed(name, payload, entries, ['incorrect', 'no exist']);
  return {
    token: data.token,
    expirationTimestamp: byOwnClock(data.expirationTimestamp, date),
    username: data.username,
    device: data.device,
  };
}

/**
 * Converts an expiry time of the server's clock to this browser's clock.
 *
 * The clocks may be hours apart, so the remaining time is computed from server times alone.
 */
function byOwnClock(expirationTimestamp: number, serverDate: number): number {
  if (Number.isNaN(serverDate)) return expirationTimestamp;
  // The date is truncated by up to a second: expire rather a second too early.
  return Date.now() + expirationTimestamp - (serverDate + 1000);
}

export async function registerUser(user: {
  email: string;
  password: string;
  salt: string;
  username: string;
}): Promise<void> {
  await succeed('registerUser', user, {}, ['exist']);
}

/** Whether API keys and passkeys are revoked. Left out otherwise. */
const ifRevoked = (revoke: boolean) => (revoke ? { revoke } : {});

/**
 * Sets a new password (a hash, with its salt), and revokes API keys and passkeys if wanted. Returns
 * the session that replaces the current one.
 */
export async function changePassword(
  account: Account,
  { revoke = false, ...change }: NewPassword & { password: string },
): Promise<{ token: string; expirationTimestamp: number }> {
  const payload = { token: account.token, ...change, ...ifRevoked(revoke) };
  const { data, date } = await succeed('changePassword', payload, session, [
    ...isNoOwner,
    'incorrect',
  ]);
  return {
    token: data.token,
    expirationTimestamp: byOwnClock(data.expirationTimestamp, date),
  };
}

export async function removeAccount(account: Account, password: string): Promise<void> {
  await succeed('removeAccount', { token: account.token, password }, {}, [
    ...isNoOwner,
    'incorrect',
  ]);
}

/** Replaces the recovery codes of the account. Returns the new ones, which are not stored. */
export async function createRecoveryCodes({ token }: Account, password: string): Promise<string[]> {
  const entries = { codes: v.array(v.string()) };
  const outcomes = [...isNoOwner, 'incorrect'] as const;
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
  return (await succeed('countRecoveryCodes', { token }, recoveryCodes, isNoOwner, options)).data;
}

/**
 * Sets the password of an account by one of its recovery codes, and revokes API keys and passkeys
 * if wanted.
 */
export async function resetPassword({
  revoke = false,
  ...reset
}: NewPassword & {
  email: string;
  recovery_code: string;
  device: string | null;
}): Promise<void> {
  await succeed('resetPassword', { ...reset, ...ifRevoked(revoke) }, {}, ['incorrect']);
}

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
  return (await succeed('listPasskeys', { token }, entries, isNoOwner, options)).data.passkeys;
}

/** Returns the options with which this browser creates a passkey. The browser validates them. */
export async function beginPasskey(
  { token }: Account,
  password: string,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const entries = { options: v.custom<PublicKeyCredentialCreationOptionsJSON>(isObject) };
  const outcomes = [...isNoOwner, 'incorrect'] as const;
  return (await succeed('beginPasskey', { token, password }, entries, outcomes)).data.options;
}

/** Adds a passkey that this browser created. */
export async function finishPasskey(
  { token }: Account,
  passkeyToAdd: { name: string; credential: unknown },
): Promise<void> {
  await succeed('finishPasskey', { token, ...passkeyToAdd }, {}, isNoOwner, act);
}

export async function removePasskey(
  { token }: Account,
  id: string,
  password: string,
): Promise<void> {
  await succeed('removePasskey', { token, id, password }, {}, [...isNoOwner, 'incorrect']);
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
  return startSession('finishLogin', login);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
