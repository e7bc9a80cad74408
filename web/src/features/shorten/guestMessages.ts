/** What is said of a guest's links. It comes with them. */
import type { LinkState } from '../../api';

/** Where the links of a guest did not come. */
export const loadFailed = 'Your earlier links did not load.';

/** Of a link that was not removed, or not restored. */
export const changeFailed = {
  remove: 'The link was not removed. Please try again.',
  restore: 'The link was not restored. Please try again.',
  gone: 'This link is gone.',
} as const;

/** Of a link that leads nowhere now. */
export const stateWords: Record<Exclude<LinkState, 'active'>, string> = {
  expired: 'Ended',
  removed: 'Removed',
  blocked: 'Blocked',
};
