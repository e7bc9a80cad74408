/** Texts of a guest's links, which load for guests only. */
import type { ReactNode } from 'react';
import type { LinkState } from '../../api';
import { plural } from '../../lib/format';

export const messages = {
  heading: 'Created in this browser',
  loading: 'Loading your earlier links',
  loadFailed: 'Your earlier links did not load.',
  clickToCopy: 'Click to copy',
  qr: 'QR',
  statistics: 'Statistics',
  views: (count: number) => plural(count, 'view', 'views'),
  viewsOf: (url: string) => `of ${url}`,
  viewsUnknownOf: (url: string) => `unknown for ${url}`,
  wasRemoved: (url: ReactNode) => <>{url} was removed.</>,
  removed: (url: string) => `${url} was removed`,
  restored: (url: string) => `${url} was restored`,
  failed: {
    remove: 'The link was not removed. Please try again.',
    restore: 'The link was not restored. Please try again.',
    gone: 'This link no longer exists.',
  },
  states: {
    expired: 'Expired',
    removed: 'Removed',
    blocked: 'Blocked',
  } satisfies Record<Exclude<LinkState, 'active'>, string>,
};
