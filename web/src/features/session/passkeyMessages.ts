/** Texts of passkeys. */
export const passkeys = {
  title: 'Passkeys',
  hint: 'With a passkey, you log in with your fingerprint, face or screen lock instead of a password. Nobody can guess it.',
  host: (host: string) =>
    `They work at ${host} only: if this site moves to another host, you need your password.`,
  list: 'Your passkeys',
  loading: 'Loading your passkeys',
  loadFailed: 'Your passkeys could not be loaded.',
  none: 'You have no passkeys yet.',
  full: (max: number) => `You have ${max} passkeys, the maximum. Remove one to add another.`,
  createdOn: (day: string | null) => `Added ${day}`,
  lastUsed: (time: string) => `Last used ${time}`,
  neverUsed: 'Never used',
  remove: 'Remove',
  removeOf: (name: string) => `Remove ${name}`,
  removeQuestion: (name: string) => `Remove the passkey “${name}”?`,
  removeWarning: 'You can no longer log in with it. Delete it on your device as well.',
  last: 'Nobody could log in to this account anymore. Set a password first.',
  removed: (name: string) => `The passkey “${name}” was removed.`,
};

export const adding = {
  add: 'Add a passkey',
  name: 'Name',
  nameHint: 'For you alone, to tell your passkeys apart.',
  unnamed: 'Passkey',
  submit: 'Continue',
  done: (name: string) => `The passkey “${name}” was added.`,
  declined: 'No passkey was added. You can try again.',
  exists: 'This device already has a passkey for your account.',
  invalid: 'The passkey could not be verified. Please try again.',
};

export const passkeyLogin = {
  button: 'Log in with a passkey',
  declined: 'No passkey was used. You can try again, or log in with your password.',
  unknown: 'This passkey was removed from your account. Log in with your password.',
  refused: 'The passkey could not be verified. Please try again.',
};
