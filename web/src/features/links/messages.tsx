/** Texts of an owner's links: the list, and the page of one link. */
import type { ReactNode } from 'react';
import type { BlockReason, LinkQuery, Reason } from '../../api';
import { counted } from '../../lib/counted';
import { formatNumber, plural } from '../../lib/format';

const links = (count: number) => counted(count, 'link', 'links');

export const messages = {
  loadFailed: 'Error on loading user data',
  viewsUnknown: 'View counts are temporarily unavailable.',
  notRemoved: (count: number) =>
    `${plural(count, 'The link was', 'Some links were')} not removed. Please try again.`,
  notRestored: (count: number) =>
    `${plural(count, 'The link was', 'Some links were')} not restored. Please try again.`,
  removed: (url: string) => `${url} was removed`,
  restored: (url: string) => `${url} was restored`,
  restore: 'Restore',
  qr: 'QR code',
  notSaved: 'Your change was not saved. Please try again.',
};

export const list = {
  title: 'My account',
  description: 'Your short links, their destinations and their views.',
  heading: 'Your links',
  loggedInAs: (name: ReactNode) => <>Logged in as {name}</>,
  importLinks: 'Import links',
  administration: 'Administration',
  settings: 'Settings',
  logOut: 'Log out',
  label: 'Links',
  loading: 'Loading your links',
  search: 'Search',
  searchHint: 'Part of a link, title or tag',
  order: 'Order',
  orders: {
    newest: 'Newest',
    oldest: 'Oldest',
    'most viewed': 'Most viewed',
  } satisfies Record<LinkQuery['order'], string>,
  state: 'State',
  states: {
    all: 'All',
    active: 'Active',
    expired: 'Expired',
    blocked: 'Blocked',
    removed: 'Removed',
  },
  empty: 'You have no links yet. Links that you shorten appear here.',
  noMatch: 'No links match.',
  restFailed: 'More links did not load.',
  count: links,
  selectedOf: (selected: number, total: number) =>
    `${formatNumber(selected)} of ${links(total)} selected`,
  selectAll: (count: number) => `Select all ${formatNumber(count)} shown`,
  selected: 'Selected links',
  tag: 'Tag',
  removedCount: (count: number) => `${links(count)} removed`,
  removeHint: 'They stop working. You can restore them for 30 days.',
  tagTitle: (count: number) => `Tag ${links(count)}`,
  tagField: 'Tags to add, separated by commas',
  noTag: 'Enter a tag.',
  tagged: (count: number) => `${links(count)} tagged`,
  taggedSoFar: (count: number) => `${formatNumber(count)} done`,
  columns: { selected: 'Selected', link: 'Link', views: 'Views', actions: 'Actions' },
};

export const row = {
  select: (url: string) => `Select ${url}`,
  clickToCopy: 'Click to copy',
  tags: 'Tags',
  of: (url: string) => `of ${url}`,
  qr: 'QR',
  qrOf: (url: string) => `code of ${url}`,
  more: (url: string) => `More actions for ${url}`,
  statistics: 'Statistics',
  edit: 'Edit',
  wasRemoved: (url: ReactNode) => <>{url} was removed.</>,
  wasRestored: (url: ReactNode) => <>{url} was restored.</>,
  blocked: (reason: BlockReason | null) => `Blocked${reason === null ? '' : `: ${reason}`}`,
  removed: 'Removed',
  expired: (date: string | null) => `Expired ${date ?? ''}`.trim(),
  expires: (date: string) => `Expires ${date}`,
  views: (count: number) => plural(count, 'view', 'views'),
  viewsUnknown: 'views unknown',
};

export const details = {
  description: 'A short link, its settings and its statistics.',
  publicDescription: 'Statistics of a short link.',
  loading: 'Loading the link',
  expired: 'This link has expired.',
  removed: 'You removed this link. You can restore it for 30 days.',
  blocked: (reason: BlockReason) => `This link was blocked: ${reason}.`,
  change: 'Change',
  save: 'Save',
  saved: 'Saved',
  destination: 'Destination',
  title: 'Title',
  addTitle: 'Add a title',
  tags: 'Tags',
  addTags: 'Add tags',
  tagsField: 'Tags, separated by commas',
  expiry: 'Expires',
  expiredSince: 'Expired',
  setExpiry: 'Set an expiry date',
  never: 'Never',
  afterExpiry: 'After expiry',
  afterExpiryField: 'Destination after expiry (optional)',
  noDestination: 'Shows that the link has expired',
  domain: 'Domain',
  /** What a button 'Change' changes, for screen readers. */
  changes: {
    destination: 'the destination',
    title: 'the title',
    tags: 'the tags',
    expiry: 'the expiry date',
    afterExpiry: 'the destination after expiry',
    domain: 'the domain',
  },
  created: 'Created',
  views: 'Views',
  viewsBy: (people: number, bots: number) =>
    `${counted(people, 'by a person', 'by people')}, ${formatNumber(bots)} by bots`,
  scanCode: 'Scan code',
  theScanCode: 'the scan code',
  history: 'Earlier destinations',
  until: (time: ReactNode) => <>until {time}</>,
  makePublic: 'Make these statistics public',
  isPublic: 'These statistics are public',
  isPrivate: 'These statistics are private',
  publicAt: (url: ReactNode) => <>Public at {url}</>,
  publicUrl: 'the URL of the statistics',
};

export const expiry = {
  field: 'Expires at',
  timeZone: (zone: string) => `${zone}.`,
  noDate: 'Without a date, the link never expires.',
  past: 'This time has passed. The link expires at once.',
  quick: 'Expires',
  inAnHour: 'In an hour',
  inADay: 'In a day',
  inAWeek: 'In a week',
  in30Days: 'In 30 days',
  never: 'Never',
};

/** Error texts below fields. */
export const problems = {
  INVALID_URL: 'Enter a valid URL',
  INVALID_ENDED_URL: 'Enter a valid URL',
  URL_REFUSED: 'This link cannot be shortened.',
  TOO_MANY_URLS: 'This link has had 500 destinations. You cannot change it again.',
  INVALID_TITLE: 'Enter at most 100 characters.',
  INVALID_TAGS: 'Enter at most 10 tags with at most 30 characters each.',
  INVALID_EXPIRY: 'Enter a date and a time.',
  INVALID_DOMAIN: 'This domain is no longer offered.',
} satisfies Partial<Record<Reason, string>>;
