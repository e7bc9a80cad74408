/** Texts of the specification that the QR generator owns, to the letter. */
export const qrMessages = {
  noLink: 'Please enter a link to start downloading...',
  badFile: 'Please choose a valid file type',
  logoAlt: 'Your logo...',
  tooLong: 'This text is too long for a QR code',
} as const;
