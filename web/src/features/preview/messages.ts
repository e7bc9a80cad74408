import type { BlockReason, LinkState } from '../../api';

export const headings: Record<LinkState, string> = {
  active: 'Where it leads',
  expired: 'Where it led',
  removed: 'Where it led',
  blocked: 'Where it led',
};

export const notLookedUp = 'This link could not be looked up. Please try again.';

/** What can be wrong with a link, as the form names it. */
export const reportReasons: readonly { value: BlockReason; text: string }[] = [
  { value: 'phishing', text: 'Phishing' },
  { value: 'malware', text: 'Malware' },
  { value: 'spam', text: 'Spam' },
  { value: 'illegal', text: 'Illegal' },
  { value: 'other', text: 'Other' },
];

/** Unicode code points. */
export const MOST_DETAILS = 1000;

export const reportMessages = {
  noReason: 'Choose what is wrong with it.',
  longDetails: 'At most 1000 characters.',
  badContact: 'Please enter a valid email',
  sent: 'Thank you. Your report was sent to the operator of this site.',
  gone: 'There is no such link any more.',
  failed: 'Your report was not sent. Please try again.',
  tooMany: (when: string) => `Too many reports were sent from here. Please try again ${when}.`,
  outdated: 'There is a newer version of this page. Please load it again.',
} as const;
