/** Texts of the components that load with the pages that use them. */
import type { ReactNode } from 'react';
import { formatNumber } from '../lib/format';

export const messages = {
  show: 'Show',
  hide: 'Hide',
  showPassword: 'Show password',
  hidePassword: 'Hide password',
  close: 'Close',
  noPassword: (provider: string) =>
    `Your account has no password. Your login with ${provider} confirms this for 15 minutes.`,
  confirm: (provider: string) => `Confirm with ${provider} again`,
  domain: 'Domain',
  unknownBrowser: 'Unknown browser',
  anUnknownBrowser: 'an unknown browser',
  browserOn: (browser: string, system: string) => `${browser} on ${system}`,
  createdBy: (browser: string, time: string) => `Created in ${browser} (session of ${time})`,
  notifications: 'Notifications Alt+T',
  removeQuestion: (what: ReactNode) => <>Remove {what}?</>,
  printedCodes: (count: number, printed: number) =>
    `Printed codes of ${printedLinks(count, printed)} will stop working.`,
};

function printedLinks(count: number, printed: number): string {
  if (count === 1) return 'this link';
  return printed === count ? 'these links' : `${formatNumber(printed)} of these links`;
}
