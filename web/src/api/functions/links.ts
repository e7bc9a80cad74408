/** Calls about links of an owner. */
import * as v from 'valibot';
import type { Account, Guest, Owner } from '../../lib/owner';
import { succeed, type CallOptions } from '../client';
import {
  blockReason,
  CHANGE,
  code,
  credentials,
  OWNER_OUTCOMES,
  LINK_OUTCOMES,
  linkState,
  moment,
  type LinkState,
} from './shared';

export async function createShortLink(
  link: { code: string; url: string; domain?: string },
  owner: Owner,
  options: CallOptions,
): Promise<string> {
  const payload = { ...link, ...credentials(owner) };
  const { data } = await succeed(
    'createShortLink',
    payload,
    { code, short_link: code },
    OWNER_OUTCOMES,
    options,
  );
  return data.short_link;
}

const scanCode = v.pipe(v.string(), v.regex(/^[0-9A-Z-]{8}$/));

const link = v.object({
  code,
  short_url: v.optional(v.string()),
  long_link: v.string(),
  title: v.string(),
  tags: v.array(v.string()),
  state: linkState,
  reason: v.nullable(blockReason),
  created_at: moment,
  changed_at: v.nullable(moment),
  expires_at: v.nullable(moment),
  ended_url: v.nullable(v.string()),
  public_statistics: v.boolean(),
  views: v.nullable(v.number()),
  bots: v.nullable(v.number()),
  scan_code: v.optional(scanCode),
  domain: v.optional(v.string()),
  recent: v.optional(v.nullable(v.array(v.number()))),
});

/**
 * A link as its owner sees it.
 *
 * Times are ISO 8601 in UTC. `short_url` and `domain`, its host with the port, are absent if the
 * gateway is older than this page.
 * `changed_at` is the last change of the destination. `views` (of people) and `bots` are null while
 * unknown. `scan_code` is present once the link has one. `recent` contains the people of each of
 * the last 30 UTC days, oldest first. It is present only in a list that requested it, and null
 * while unknown.
 */
export type Link = v.InferOutput<typeof link>;

/** Returns a new link with default fields, for display until the server returns the stored one. */
export function newLink(
  shortCode: string,
  url: string,
  created_at = new Date().toISOString(),
  domain?: string,
): Link {
  return {
    code: shortCode,
    ...(domain !== undefined && { domain }),
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
  return (await succeed('showLink', payload, entries, LINK_OUTCOMES, options)).data;
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
  return (await succeed('showLinks', payload, entries, OWNER_OUTCOMES, options)).data;
}

type Changeable = 'title' | 'tags' | 'expires_at' | 'ended_url' | 'public_statistics' | 'domain';

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
  return (await succeed('changeLink', payload, { link }, LINK_OUTCOMES, CHANGE)).data.link;
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
  return (await succeed('createScanCode', payload, entries, LINK_OUTCOMES, options)).data.scan_code;
}

export async function removeLinks(owner: Owner, codes: readonly string[]): Promise<void> {
  const payload = { ...credentials(owner), codes };
  await succeed('removeLinks', payload, { removed: v.array(code) }, LINK_OUTCOMES, CHANGE);
}

export async function restoreLinks(owner: Owner, codes: readonly string[]): Promise<void> {
  const payload = { ...credentials(owner), codes };
  await succeed('restoreLinks', payload, { restored: v.array(code) }, LINK_OUTCOMES, CHANGE);
}

/** Moves a guest's links to an account. Returns the number of links moved by this call. */
export async function claimLinks(account: Account, guest: Guest): Promise<number> {
  const payload = { token: account.token, guest: guest.key };
  const entries = { claimed: v.number() };
  return (await succeed('claimLinks', payload, entries, OWNER_OUTCOMES, CHANGE)).data.claimed;
}
