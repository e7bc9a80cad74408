/** Texts of a link's preview and of the form that reports it. */
import type { ReactNode } from 'react';
import type { BlockReason, LinkState } from '../../api';

export const messages = {
  title: (url: string) => `Preview of ${url}`,
  description: 'See where a short link leads before you open it.',
  headings: {
    active: 'Link preview',
    expired: 'Preview of an expired link',
    removed: 'Preview of a removed link',
    blocked: 'Preview of a blocked link',
  } satisfies Record<LinkState, string>,
  loading: 'Loading the preview',
  loadFailed: 'The preview did not load. Please try again.',
  displayedAs: (host: ReactNode) => <>Displayed as {host}</>,
  created: (url: ReactNode, date: string | null) => (
    <>
      {url} was created on {date}.
    </>
  ),
  changed: (date: string) => `Its destination was changed on ${date}.`,
  unchanged: 'Its destination has not been changed.',
  ownerTitle: (title: ReactNode) => <>Title: “{title}”</>,
  goThere: 'Go there',
  report: 'REPORT',

  warnings: 'Warnings',
  mixedScripts: 'The host name mixes letters of several alphabets.',
  lookAlike: 'The host name resembles that of a well-known site, but this is a different site.',
  lookAlikeOf: (host: ReactNode) => (
    <>The host name only looks like {host}: some letters are from another alphabet.</>
  ),
  punycode: (host: ReactNode) => (
    <>The host name has letters other than a to z. Browsers may display it as {host}.</>
  ),
  ipAddress: 'The host is an IP address. Nearly all sites use a name.',
  userInfo: (host: ReactNode) => (
    <>The text before the @ is not the host. The link leads to {host}.</>
  ),
  port: (port: string) => `The URL has an unusual port${port && `: ${port}`}.`,

  reportTitle: 'Report this link',
  reason: 'Reason',
  reasons: {
    phishing: 'Phishing',
    malware: 'Malware',
    spam: 'Spam',
    illegal: 'Illegal',
    other: 'Other',
  } satisfies Record<BlockReason, string>,
  details: 'Details (optional)',
  contact: 'Your email, for questions (optional)',
  send: 'Send report',
  noReason: 'Choose a reason.',
  longDetails: 'Enter at most 1,000 characters.',
  badContact: 'Please enter a valid email',
  sent: 'Thank you. Your report was sent to the operator of this site.',
  gone: 'This link no longer exists.',
  failed: 'Your report was not sent. Please try again.',
  tooMany: (when: string) =>
    `Too many reports were sent from your network. Please try again ${when}.`,
  outdated: 'A new version of this page is available. Please reload it.',
};
