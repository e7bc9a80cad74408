import type { Fault, Verdict } from './verdict';

/** Texts that the QR generator owns; those of the specification to the letter. */
export const qrMessages = {
  noLink: 'Please enter a link to start downloading...',
  badFile: 'Please choose a valid file type',
  damagedImage: 'This image is damaged. Please choose another file',
  emptyImage: 'This image is empty. Please choose another file',
  unsizedImage: 'This SVG has no size. Please save it with a width and a height',
  logoAlt: 'Your logo...',
  notSaved: 'The file was not made. Please try again',
  tooLong: 'This text is too long for a QR code',
} as const;

/** What stands under the code. */
export const verdictWords: Record<Verdict, string> = {
  well: 'Scans well',
  care: 'Hard to scan',
  inverted: 'Many cameras see no code in light on dark.',
  close: 'These colors are too close for many cameras.',
  dense: 'So much text: squares too small for many cameras.',
  unread: 'The check could not read this code.',
  unchecked: 'Not checked: the decoder did not load.',
  checking: 'Checking whether it scans',
};

/** What is said when such a code is saved all the same. */
export const savedWords: Record<Fault, string> = {
  inverted: 'Saved, but it may not scan: light on dark',
  close: 'Saved, but it may not scan: the colors are too close',
  dense: 'Saved, but it may not scan: its squares are very small',
  unread: 'Saved, but it may not scan: the check could not read it',
  unchecked: 'Saved without a check: the decoder did not load',
  checking: 'Saved before it was checked: the decoder is still loading',
};
