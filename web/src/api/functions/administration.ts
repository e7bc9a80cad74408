/** Calls of administrators. */
import * as v from 'valibot';
import type { Account } from '../../lib/owner';
import { succeed, type CallOptions } from '../client';
import { blockReason, linkState, moment, OWNER_OUTCOMES, type BlockReason } from './shared';

/** Outcomes of every call of an administrator. */
const OUTCOMES = [...OWNER_OUTCOMES, 'not allowed', 'confirm'] as const;
const SUBJECT_OUTCOMES = [...OUTCOMES, 'no exist'] as const;

const role = v.picklist(['member', 'administrator']);
export type Role = v.InferOutput<typeof role>;

const cursor = v.nullable(v.string());
/** A figure, null while the service that counts it does not answer. */
const figure = v.nullable(v.number());

const reportedLink = v.object({
  code: v.string(),
  long_link: v.string(),
  state: linkState,
  created_at: moment,
  views: figure,
  reports: v.number(),
  /** The most frequent one first. */
  classes: v.array(blockReason),
  first_reported_at: moment,
  last_reported_at: moment,
});
export type ReportedLink = v.InferOutput<typeof reportedLink>;

const decision = v.object({
  id: v.string(),
  at: moment,
  action: v.string(),
  /** A code, a host or a path, or the id of an account. */
  subject: v.string(),
  class: v.nullable(blockReason),
  comment: v.string(),
  /** An email address, or `operator`. */
  by: v.string(),
});
export type Decision = v.InferOutput<typeof decision>;

const reportFile = {
  link: v.object({
    code: v.string(),
    long_link: v.string(),
    state: linkState,
    reason: v.nullable(blockReason),
    created_at: moment,
    changed_at: v.nullable(moment),
    owner: v.picklist(['account', 'guest', 'nobody']),
  }),
  reports: v.array(
    v.object({
      id: v.string(),
      reason: blockReason,
      details: v.string(),
      contact: v.nullable(v.string()),
      created_at: moment,
    }),
  ),
  decisions: v.array(decision),
  history: v.array(v.object({ long_link: v.string(), until: moment })),
};
export type ReportFile = v.InferOutput<v.ObjectSchema<typeof reportFile, undefined>>;

const explanation = {
  blocked: v.boolean(),
  by: v.nullable(v.picklist(['decision', 'list', 'owner'])),
  class: v.nullable(blockReason),
  detail: v.string(),
};
export type BlockExplanation = v.InferOutput<v.ObjectSchema<typeof explanation, undefined>>;

const account = v.object({
  id: v.string(),
  email: v.string(),
  username: v.string(),
  role,
  suspended: v.boolean(),
  links: figure,
  created_at: moment,
  last_seen_at: v.nullable(moment),
});
export type ListedAccount = v.InferOutput<typeof account>;

const invitation = v.object({
  id: v.string(),
  email: v.nullable(v.string()),
  role,
  created_at: moment,
  expires_at: moment,
});
export type Invitation = v.InferOutput<typeof invitation>;

const instance = {
  version: v.string(),
  links: figure,
  accounts: figure,
  visits: v.object({ today: figure, yesterday: figure }),
  storage_bytes: figure,
  backup_at: v.nullable(moment),
  processes: v.array(v.object({ name: v.string(), ready: v.boolean() })),
};
export type Instance = v.InferOutput<v.ObjectSchema<typeof instance, undefined>>;

/** A page of a list. */
export interface Page<T> {
  items: T[];
  /** Cursor of the next page; null at the end. */
  cursor: string | null;
}

/** Confirms that the user of the session is still the one who logged in. */
export async function confirmSession(
  { token }: Account,
  proof: { password: string } | { credential: unknown },
): Promise<void> {
  await succeed('confirmSession', { token, ...proof }, {}, [...OWNER_OUTCOMES, 'incorrect']);
}

/** Returns links that await a decision, the most often reported first. */
export async function listReports(
  { token }: Account,
  from: string | null,
  options: CallOptions = {},
): Promise<Page<ReportedLink>> {
  const entries = { reports: v.array(reportedLink), cursor };
  const payload = { token, cursor: from };
  const { data } = await succeed('listReports', payload, entries, OUTCOMES, options);
  return { items: data.reports, cursor: data.cursor };
}

/** Returns what is known about a link: its pending reports, decisions and earlier destinations. */
export async function showReports(
  { token }: Account,
  code: string,
  options: CallOptions = {},
): Promise<ReportFile> {
  const payload = { token, code };
  return (await succeed('showReports', payload, reportFile, SUBJECT_OUTCOMES, options)).data;
}

export interface NewDecision {
  /** A code, a short URL, a host or a path. */
  subject: string;
  action: 'block' | 'unblock' | 'dismiss';
  /** Needed to block. */
  class?: BlockReason;
  comment?: string;
}

export async function decide({ token }: Account, made: NewDecision): Promise<void> {
  const entries = { decision: v.string() };
  await succeed('decide', { token, ...made }, entries, SUBJECT_OUTCOMES, { keepalive: true });
}

export async function explainBlock(
  { token }: Account,
  subject: string,
  options: CallOptions = {},
): Promise<BlockExplanation> {
  const payload = { token, subject };
  return (await succeed('explainBlock', payload, explanation, SUBJECT_OUTCOMES, options)).data;
}

/** Returns decisions that contain a text, newest first. */
export async function listDecisions(
  { token }: Account,
  query: string,
  from: string | null,
  options: CallOptions = {},
): Promise<Page<Decision>> {
  const entries = { decisions: v.array(decision), cursor };
  const payload = { token, query: query || null, cursor: from };
  const { data } = await succeed('listDecisions', payload, entries, OUTCOMES, options);
  return { items: data.decisions, cursor: data.cursor };
}

/** Returns accounts whose email address contains a text, newest first. */
export async function listAccounts(
  { token }: Account,
  query: string,
  from: string | null,
  options: CallOptions = {},
): Promise<Page<ListedAccount>> {
  const entries = { accounts: v.array(account), cursor };
  const payload = { token, query: query || null, cursor: from };
  const { data } = await succeed('listAccounts', payload, entries, OUTCOMES, options);
  return { items: data.accounts, cursor: data.cursor };
}

export async function changeAccount(
  { token }: Account,
  id: string,
  changes: { suspended?: boolean; role?: Role },
): Promise<ListedAccount> {
  const outcomes = [...SUBJECT_OUTCOMES, 'last administrator'] as const;
  const payload = { token, id, changes };
  return (await succeed('changeAccount', payload, { account }, outcomes)).data.account;
}

/** Blocks all links of an account. Returns how many. */
export async function blockAccountLinks(
  { token }: Account,
  id: string,
  reason: BlockReason,
  comment: string,
): Promise<number> {
  const payload = { token, id, class: reason, comment };
  const entries = { blocked: v.number() };
  return (await succeed('blockAccountLinks', payload, entries, SUBJECT_OUTCOMES)).data.blocked;
}

export async function endAccountSessions({ token }: Account, id: string): Promise<void> {
  await succeed('endAccountSessions', { token, id }, {}, SUBJECT_OUTCOMES);
}

/** Returns a URL at which the owner of an account sets a password. It works once, for an hour. */
export async function createResetLink({ token }: Account, id: string): Promise<string> {
  const entries = { url: v.string() };
  return (await succeed('createResetLink', { token, id }, entries, SUBJECT_OUTCOMES)).data.url;
}

/** Returns the URL of a new invitation: for an email address, or for anyone if it is null. */
export async function createInvitation(
  { token }: Account,
  email: string | null,
  invitedRole: Role,
): Promise<string> {
  const entries = { id: v.string(), url: v.string() };
  const payload = { token, email, role: invitedRole };
  return (await succeed('createInvitation', payload, entries, OUTCOMES)).data.url;
}

export async function listInvitations(
  { token }: Account,
  options: CallOptions = {},
): Promise<Invitation[]> {
  const entries = { invitations: v.array(invitation) };
  return (await succeed('listInvitations', { token }, entries, OUTCOMES, options)).data.invitations;
}

export async function revokeInvitation({ token }: Account, id: string): Promise<void> {
  await succeed('revokeInvitation', { token, id }, {}, SUBJECT_OUTCOMES);
}

export async function showInstance(
  { token }: Account,
  options: CallOptions = {},
): Promise<Instance> {
  return (await succeed('showInstance', { token }, instance, OUTCOMES, options)).data;
}
