/** Texts of recovery codes, and of setting a forgotten password. */
import type { ReactNode } from 'react';
import { plural } from '../../lib/format';

export const recovery = {
  title: 'Recovery codes',
  hint: 'If you forget your password, each of these codes sets a new one, once. Atajo sends no email, so keep some.',
  loading: 'Loading your recovery codes',
  loadFailed: 'Your recovery codes could not be loaded.',
  none: 'You have no recovery codes yet.',
  left: (left: number) => `You have ${left} ${plural(left, 'code', 'codes')} left.`,
  createdOn: (time: string) => `Created ${time}.`,
  create: 'Create recovery codes',
  replace: 'Create new codes',
  replaceWarning: 'The codes that you have now will stop working.',
  offer: 'In case you forget your password:',
  notNow: 'Not now',
};

export const created = {
  title: 'Your new recovery codes',
  once: 'Keep them outside this device, as safe as a password. They are shown only this once.',
  list: 'Recovery codes',
  download: 'Download',
  print: 'Print',
  done: 'Done',
  fileName: 'atajo-recovery-codes.txt',
  file: (host: string, name: string, codes: string) =>
    `Recovery codes for ${name} on ${host}\n\n${codes}\n\nEach code sets a new password once, on https://${host}/reset-password.\n`,
};

export const reset = {
  title: 'Set a new password',
  description: 'Set a new password for your Atajo account with a recovery code.',
  intro: 'Enter one of the recovery codes that you created in the settings. All sessions end.',
  noMail: (contact: ReactNode) => (
    <>
      Atajo sends no email. Without a code, write to {contact} from the email address of your
      account.
    </>
  ),
  operatorsLink:
    'This link also deletes your recovery codes and revokes your API keys and passkeys, in case somebody else has them.',
  code: 'Recovery code',
  submit: 'Set password',
  incorrect: 'The email or the recovery code is wrong',
  noCode: 'Please enter a recovery code',
  done: 'Your password was changed. You can log in with it now.',
  unknown:
    'There was no answer. Your password may have been changed: try to log in with the new one before you use another code.',
  backTo: 'Back to',
  logIn: 'Log in',
};
