/** Texts of the administration. */
import type { ReactNode } from 'react';
import type { BlockReason, LinkState } from '../../api';
import type { BlockExplanation, NewDecision, ReportFile, Role } from '../../api/administration';
import { counted } from '../../lib/counted';
import { formatNumber, plural } from '../../lib/format';
import type { SectionName } from './sections';

export const messages = {
  title: 'Administration',
  sections: 'Sections',
  names: {
    reports: 'Reports',
    links: 'Links',
    accounts: 'Accounts',
    decisions: 'Decisions',
    instance: 'Instance',
  } satisfies Record<SectionName, string>,
};

export const classes: Record<BlockReason, string> = {
  phishing: 'Phishing',
  malware: 'Malware',
  spam: 'Spam',
  illegal: 'Illegal',
  other: 'Other',
};

export const roles: Record<Role, string> = { member: 'Member', administrator: 'Administrator' };

export const failures = {
  notConfirmed: 'Nothing was changed, because you did not confirm that it is you.',
  gone: 'This no longer exists, or there is nothing to change.',
  lastAdministrator: 'This is the last administrator. Make somebody else one first.',
  noSubject:
    'Enter a code, a short URL, a host or a path. Whole top-level domains cannot be blocked.',
  comment: 'Enter a comment of at most 500 characters on one line.',
  email: 'Please enter a valid email',
  invalid: 'The server refused this. Check what you entered.',
  other: 'It did not work. Please try again.',
};

export const lists = {
  loading: 'Loading the list',
  loadFailed: 'The list did not load.',
};

export const fields = {
  class: 'Class',
  comment: 'Comment (optional, for administrators)',
};

export const secrets = {
  copy: 'Copy URL',
  done: 'Done',
};

export const destination = {
  displayedAs: (host: ReactNode) => <>Displayed as {host}</>,
  copy: 'Copy',
  copyLabel: 'Copy the destination',
};

type Decided = Pick<NewDecision, 'action' | 'class'>;
const asClass = (reason: BlockReason | undefined) =>
  reason === undefined ? '' : ` as ${classes[reason].toLowerCase()}`;

export const reports = {
  loading: 'Loading the reports',
  loadFailed: 'The reports did not load.',
  none: 'No link awaits a decision.',
  refresh: 'Refresh',
  list: 'Links that await a decision',
  count: (count: number) =>
    `${counted(count, 'link', 'links')} ${plural(count, 'awaits', 'await')} a decision`,
  reportCount: (count: number) => counted(count, 'report', 'reports'),
  views: (count: number) => counted(count, 'view', 'views'),
  viewsUnknown: 'Views unknown',
  firstReported: (time: string) => `First reported ${time}`,
  lastReported: (time: string) => `Last reported ${time}`,
  block: 'Block',
  dismiss: 'Dismiss',
  next: 'Next',
  undo: 'Undo',
  help: 'Keys: B blocks, D dismisses the reports, N shows the next link, P the previous one, U undoes, 1 to 5 choose the class, C goes to the comment, Enter leaves it.',
  keys: 'Use single-key shortcuts',
  running: (code: string, { action, class: reason }: Decided) =>
    action === 'block'
      ? `Blocking ${code}${asClass(reason)}.`
      : `Dismissing the reports of ${code}.`,
  done: (code: string, { action, class: reason }: Decided) =>
    action === 'block'
      ? `${code} was blocked${asClass(reason)}.`
      : `The reports of ${code} were dismissed.`,
  notDecided: (code: string, why: string) => `${code} is undecided. ${why}`,
  undoing: (code: string) => `Undoing the decision on ${code}.`,
  undone: (code: string, action: NewDecision['action']) =>
    action === 'block'
      ? `${code} works again, and is in the list until you leave it.`
      : `${code} is in the list again until you leave it.`,
  notUndone: (code: string, why: string) => `The decision on ${code} holds. ${why}`,
};

export const file = {
  loading: 'Loading the link',
  loadFailed: 'The link did not load.',
  preview: 'Preview',
  states: {
    active: () => 'Active',
    expired: () => 'Expired',
    removed: () => 'Removed by its owner',
    blocked: (reason) => (reason === null ? 'Blocked' : `Blocked${asClass(reason)}`),
  } satisfies Record<LinkState, (reason: BlockReason | null) => string>,
  createdAt: (time: string) => `Created ${time}`,
  changedAt: (time: string) => `Changed ${time}`,
  owners: {
    account: 'Belongs to an account',
    guest: 'Belongs to a guest',
    nobody: 'Belongs to nobody',
  } satisfies Record<ReportFile['link']['owner'], string>,
  reports: 'What was reported',
  history: 'Earlier destinations',
  until: (time: string) => `Until ${time}`,
  decisions: 'Earlier decisions',
  allDecisions: 'All decisions on this link',
};

export const links = {
  search: 'Link, host or path',
  searchHint: 'Code, short URL, example.com or example.com/path',
  find: 'Find',
  hint: 'Find a link by its code or short URL, or a host or path to block all links to it.',
  loading: 'Looking it up',
  loadFailed: 'It was not looked up.',
  blocked: (subject: string, reason: string | null) =>
    `${subject} is blocked${reason === null ? '' : `: ${reason}`}.`,
  notBlocked: (subject: string) => `${subject} is not blocked.`,
  causes: {
    decision: 'By a decision.',
    list: 'By a blocklist.',
    owner: 'Its owner removed it.',
  } satisfies Record<NonNullable<BlockExplanation['by']>, string>,
  block: 'Block',
  blockAnew: 'Block with this class',
  unblock: 'Unblock',
  decisions: 'Decisions',
  linkQuestion: (subject: string) => `Block ${subject}?`,
  hostQuestion: (subject: string) =>
    `This blocks every link to ${subject} and to what is below it, and refuses new ones. Block it?`,
  wasBlocked: (subject: string) => `${subject} was blocked.`,
  wasUnblocked: (subject: string) => `${subject} was unblocked.`,
};

export const accounts = {
  search: 'Email',
  searchHint: 'Part of an email address',
  find: 'Find',
  list: 'Accounts',
  none: 'There are no accounts yet.',
  noMatch: 'No accounts match.',
  isSuspended: 'Suspended',
  links: (count: number) => counted(count, 'link', 'links'),
  linksUnknown: 'Links unknown',
  createdAt: (time: string) => `Created ${time}`,
  lastUsed: (time: string) => `Last used ${time}`,
  neverUsed: 'Never used',
  suspend: 'Suspend',
  resume: 'Resume',
  suspendQuestion: (email: string) => `Suspend ${email}?`,
  suspendHint:
    'It is logged out everywhere, cannot log in, and its API keys stop. Its links stay. You can resume it at any time.',
  suspended: (email: string) => `${email} is suspended.`,
  resumed: (email: string) => `${email} can log in again.`,
  endSessions: 'End sessions',
  sessionsEnded: (email: string) => `All sessions of ${email} were ended.`,
  reset: 'Password reset URL',
  resetCreated: 'The password reset URL is below.',
  once: (email: string) =>
    `Send this URL to ${email} only: whoever opens it can set a new password. It works once, for an hour, and is shown only now.`,
  changeRole: {
    administrator: 'Make administrator',
    member: 'Make member',
  } satisfies Record<Role, string>,
  roleQuestion: {
    administrator: (email: string) => `Let ${email} administer this site?`,
    member: (email: string) => `Make ${email} a member, who cannot administer this site?`,
  } satisfies Record<Role, (email: string) => string>,
  roleChanged: {
    administrator: (email: string) => `${email} is an administrator.`,
    member: (email: string) => `${email} is a member.`,
  } satisfies Record<Role, (email: string) => string>,
  blockLinks: 'Block links',
  blockQuestion: (count: number | null, email: string) =>
    count === null
      ? `Block all links of ${email}?`
      : `Block ${counted(count, 'link', 'links')} of ${email}?`,
  linksBlocked: (count: number) =>
    `${counted(count, 'link', 'links')} ${plural(count, 'was', 'were')} blocked.`,
  decisions: 'Decisions',
};

export const invitations = {
  title: 'Invitations',
  hint: 'An invitation is a URL that registers one account. It works once, for seven days. Atajo sends no email: copy the URL and send it yourself.',
  email: 'Email (optional)',
  role: 'Role',
  create: 'Create invitation',
  created: 'The invitation is below.',
  once: 'Send this URL to the person you invite. It is shown only now.',
  list: 'Open invitations',
  loading: 'Loading the invitations',
  loadFailed: 'The invitations did not load.',
  none: 'No invitations are open.',
  anyone: 'For anyone',
  createdAt: (time: string) => `Created ${time}`,
  expires: (time: string) => `Expires ${time}`,
  revoke: 'Revoke',
  revokeOf: (email: string | null) =>
    email === null ? 'Revoke the invitation for anyone' : `Revoke the invitation for ${email}`,
  revoked: (email: string | null) =>
    email === null ? 'The invitation was revoked.' : `The invitation for ${email} was revoked.`,
};

const actionNames: Record<string, string> = {
  block: 'Blocked',
  unblock: 'Unblocked',
  dismiss: 'Reports dismissed',
  suspend: 'Suspended',
  resume: 'Resumed',
  role: 'Role changed',
  'end sessions': 'Sessions ended',
  'reset link': 'Password reset URL created',
  invite: 'Invitation created',
};

export const decisions = {
  search: 'Search',
  searchHint: 'Code, host, account, class or comment',
  find: 'Find',
  list: 'Decisions',
  none: 'Nothing has been decided yet.',
  noMatch: 'No decisions match.',
  action: (action: string, reason: BlockReason | null) =>
    (actionNames[action] ?? action) + asClass(reason ?? undefined),
  by: (email: string) => `By ${email}`,
  byOperator: 'By the operator',
  comment: (text: string) => `“${text}”`,
};

export const instance = {
  loading: 'Loading the state',
  loadFailed: 'The state did not load.',
  links: 'Links',
  accounts: 'Accounts',
  today: 'Visits today',
  yesterday: 'Visits yesterday',
  storage: 'Storage',
  megabytes: (megabytes: number) => `${formatNumber(megabytes)} MB`,
  backup: 'Last backup',
  noBackup: 'None known',
  version: 'Version',
  unknown: 'Unknown',
  processes: 'Processes',
  ready: 'Ready',
  notReady: 'Not ready',
  refresh: 'Refresh',
};
