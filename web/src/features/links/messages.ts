import { failureReason, type BlockReason, type LinkState, type Reason } from '../../api';
import { plural } from '../../lib/format';

/** Text of the specification that the pages of an owner's links own, to the letter. */
export const loadError = 'Error on loading user data';

/** Said once above the list; in a row stands a dash. */
export const viewsUnknown = 'The views are not known just now.';

export const notRemoved = (count: number) =>
  `${plural(count, 'The link was', 'Some links were')} not removed. Please try again.`;
export const notRestored = (count: number) =>
  `${plural(count, 'The link was', 'Some links were')} not restored. Please try again.`;

/** In place of the list. */
export const emptyWords = {
  all: 'You have no links yet. The ones you shorten appear here.',
  some: 'No link is like this.',
};

/** What a link is, in a word that stands beside its address. */
export const stateWords: Record<LinkState, string> = {
  active: 'active',
  expired: 'ended',
  removed: 'removed',
  blocked: 'blocked',
};

export const blockWords = (reason: BlockReason | null) =>
  `blocked${reason === null ? '' : `: ${reason}`}`;

/** What is wrong with a change, at its field. */
export const changeMessages: Partial<Record<Reason, string>> = {
  INVALID_URL: 'Enter a valid URL',
  INVALID_ENDED_URL: 'Enter a valid URL',
  URL_REFUSED: 'This link cannot be shortened.',
  TOO_MANY_URLS: 'This link led to 500 addresses before. It cannot be changed any more.',
  INVALID_TITLE: 'A title has at most 100 characters.',
  INVALID_TAGS: 'At most 10 tags, each of at most 30 characters.',
  INVALID_EXPIRY: 'Enter a date and a time.',
};

export const notChanged = 'This was not saved. Please try again.';

/** What is said of a change that failed. */
export function changeProblem(error: unknown): string {
  const reason = failureReason(error);
  return (reason && changeMessages[reason]) ?? notChanged;
}
