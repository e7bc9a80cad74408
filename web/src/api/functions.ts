/** The calls of the product, one function each. Loaded with the first of them. */
import * as v from 'valibot';
import { isCode } from '../lib/codes';
import { call, succeed, type CallOptions } from './client';
import type { Account, Guest, Owner } from '../lib/owner';

/** What a call that is made for somebody says of them. */
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
/** Of calls that change what is there. */
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

/** What a code answers. */
export interface Access {
  state: LinkState;
  /** Where it leads; null for nowhere. */
  url: string | null;
  /** Why it is blocked; null in every other state. */
  reason: BlockReason | null;
}

/** What a code answers, or null where there never was a link or nothing of it is left. */
export async function accessLink(shortCode: string, options: CallOptions): Promise<Access | null> {
  const reply = await call('accessLink', { code: shortCode }, accessReply, options);
  const url = reply.longUrl[0]?.long_link ?? null;
  if (reply.state === undefined && url === null) return null;
  return { state: reply.state ?? 'active', url, reason: reply.reason ?? null };
}

const scanCode = v.pipe(v.string(), v.regex(/^[0-9A-Z-]{8}$/));

const link = v.object({
  code,
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
 * A link as its owner sees it. Moments are ISO 8601 in UTC; `changed_at` is the last change of the
 * address; `views` (of people) and `bots` are null while they are not known; `scan_code` is there once
 * the link has one. `recent` has the people of each of the last 30 UTC days, oldest first: it is there
 * in a list that asked for it, and null while it is not known.
 */
export type Link = v.InferOutput<typeof link>;
export type LinkState = Link['state'];

/** A new link, as it is until the server answered. */
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

/** The fields of a link. */
export const linkFields = Object.keys(link.entries) as (keyof Link)[];

const formerAddress = v.object({ long_link: v.string(), until: moment });

/** An address that a link led to, and when another took its place. */
export type FormerAddress = v.InferOutput<typeof formerAddress>;

/** One link of an owner, and where it led before, the last address first. */
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
  /** What is in the code, the address, the title or a tag; '' for all links. */
  text: string;
  /** null for every state but removed. */
  state: LinkState | null;
  order: 'newest' | 'oldest' | 'most viewed';
  /** The most links on a page of the answer, up to 100; 100 where it is left out. */
  limit?: number;
  /** Whether each link comes with the people of its last 30 days. */
  recent?: boolean;
}

export interface LinkPage {
  links: Link[];
  /** Of the query. */
  total: number;
  /** Where the next page begins; null at the end. */
  cursor: string | null;
}

/** The most links that one page can have. */
const PAGE = 100;

/** A page of an owner's links, from a cursor on or, with null, the first. */
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

/** Fields that are absent do not change. `expires_at` is in ISO 8601 with an offset; null for never. */
export type LinkChanges = Partial<Pick<Link, Changeable>> & { url?: string };

export async function changeLink(
  owner: Owner,
  shortCode: string,
  changes: LinkChanges,
): Promise<Link> {
  const payload = { ...credentials(owner), code: shortCode, changes };
  return (await succeed('changeLink', payload, { link }, isNotTheirs, act)).data.link;
}

/** The second code of a link, which makes smaller QR symbols: the one that it has, or else a new one. */
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

/** A span that ends now. */
export type RecentSpan = '24 hours' | '7 days' | '30 days' | '90 days' | '12 months' | 'all';
/** Days such as `2026-11-22`, both included. */
export interface Dates {
  from: string;
  to: string;
}
export type Span = RecentSpan | Dates;

export interface StatisticsQuery {
  /** null for all links of the owner. */
  code: string | null;
  span: Span;
  /** By its name in the IANA database. */
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
 * Who visited, in a span. `previous` is the span of the same length before it, null for all;
 * `series` has every step from the first to the last, each with its `start` in the time zone;
 * `visitors` are null where a step is an hour. In `breakdowns`, the largest number first, '' is
 * people whose name is not known and `*` those past the first hundred names of a day. `top` is there
 * for all links alone. Of days before `kept_from`, which is there only where the span begins before it, nothing is kept any more, and
 * `previous` is null where it would need one of them.
 */
export type Statistics = v.InferOutput<v.ObjectSchema<typeof statistics, undefined>>;
export type Dimension = keyof Statistics['breakdowns'];

/** The visits of one link or all links; of a link whose statistics are public for nobody, too. */
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
  host: v.string(),
  state: link.entries.state,
  reason: v.nullable(blockReason),
  created_at: moment,
  changed_at: v.nullable(moment),
  title: v.string(),
  warnings: v.array(v.string()),
});

/**
 * A link as anybody may know it before following it. `host` is in ASCII, as it goes over the wire; a
 * blocked link has no `long_link`. A later server may know `warnings` that this page does not.
 */
export type Preview = v.InferOutput<typeof preview>;

/** What a link is, without a visit; null where there never was one or nothing of it is left. */
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
  /** '' for nothing. */
  details: string;
  /** E-mail address of who reports it; '' for none. */
  contact: string;
}

/** Tells the operator what is wrong with a link. */
export async function reportLink({ contact, ...report }: LinkReport): Promise<void> {
  const payload = { ...report, contact: contact === '' ? null : contact };
  await succeed('reportLink', payload, { report: v.string() }, ['no exist'], act);
}

/** Gives a guest's links to an account; answers how many moved now. */
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

/** What an import does with a row. Only `new` makes a link. */
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

/** Says what an import would do with rows; writes nothing. */
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

/** `code` is that of the account's link to the destination, where there is one. */
export type ImportResult = v.InferOutput<typeof importResult>;

/** Imports rows. A row that was sent before has the same result again. */
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

/** An import of the last 30 days: how many links it created, and how many of them undoing removed. */
export type PastImport = v.InferOutput<typeof pastImport>;

/** The imports that can be undone, newest first. */
export async function listImports(
  { token }: Account,
  options: CallOptions = {},
): Promise<PastImport[]> {
  const entries = { imports: v.array(pastImport) };
  return (await succeed('listImports', { token }, entries, isNoOwner, options)).data.imports;
}

const session = {
  token: v.pipe(v.string(), v.nonEmpty()),
  expirationTimestamp: v.number(),
};

export interface Credentials {
  email: string;
  password: string;
  /** The mark of an earlier log-in in this browser; null asks for a first one. */
  device: string | null;
}

export interface Login {
  token: string;
  /** Epoch milliseconds of this browser's clock. */
  expirationTimestamp: number;
  username: string;
  /** The mark to send with the next log-in; '' for none. */
  device: string;
}

export async function verifyUser(credentials: Credentials): Promise<Login> {
  const { data, date } = await succeed(
    'verifyUser',
    credentials,
    {
      ...session,
      username: v.string(),
      device: v.string(),
    },
    ['incorrect', 'no exist'],
  );
  return {
    token: data.token,
    expirationTimestamp: byOwnClock(data.expirationTimestamp, date),
    username: data.username,
    device: data.device,
  };
}

/** The two clocks may be hours apart, so what is left is measured by the server's alone. */
function byOwnClock(expirationTimestamp: number, serverDate: number): number {
  if (Number.isNaN(serverDate)) return expirationTimestamp;
  // The second that was cut off the date may have passed: rather a second too early.
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

/** Sets a new password (a hash, with its salt); answers the session that goes on from here. */
export async function changePassword(
  account: Account,
  change: { password: string; new_password: string; new_salt: string },
): Promise<{ token: string; expirationTimestamp: number }> {
  const payload = { token: account.token, ...change };
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
