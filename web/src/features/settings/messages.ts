/** Texts of the settings page, beside those of the account's own forms. */
import { formatNumber, plural } from '../../lib/format';

export const messages = {
  title: 'Settings',
  description: 'Change your password, download your links or delete your account.',
  yourLinks: 'Your links',
  download: 'Download my links',
  downloadHint:
    'A file with every link of your account and all its fields, including links removed in the last 30 days. In the CSV file, values that a spreadsheet could run as a formula start with an apostrophe.',
  downloadAs: (format: string) => `Download my links as ${format}`,
  progress: 'Links downloaded',
  progressOf: (read: number, total: number) =>
    `${formatNumber(read)} of ${formatNumber(total)} links`,
  downloaded: (count: number) =>
    `${formatNumber(count)} ${plural(count, 'link', 'links')} downloaded.`,
  failed: 'The download failed. Please try again.',
};
