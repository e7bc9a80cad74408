/** Texts of logging in with an OpenID Connect provider. */
export const oidc = {
  button: (name: string) => `Continue with ${name}`,
  unavailable: (name: string) =>
    `${name} does not answer at the moment. Please try again later, or log in in another way.`,
  off: (name: string) => `Logging in with ${name} is turned off.`,
};

/** The page to which the provider returns. */
export const callback = {
  title: 'Logging in',
  description: 'The end of a login with another provider.',
  heading: (name: string) => `Log in with ${name}`,
  waiting: 'Logging in',
  confirmed: 'Your login was confirmed.',
  declined: (name: string) => `${name} did not log you in: the login was canceled or refused.`,
  refused: 'This login cannot be completed: it is too old, or began in another browser or tab.',
  unverified: (name: string) =>
    `${name} does not know a verified email address of yours. Verify it there, then try again.`,
  exist: (name: string) =>
    `There is already an account with your email address, which ${name} cannot open. Log in to it in another way.`,
  again: 'Go to the login',
  link: (email: string, name: string) =>
    `There is already an account with the email address ${email}. Enter its password once, and from then on you can log in with ${name}, too.`,
  connect: 'Connect and log in',
};

/** The section on the settings page. */
export const connections = {
  title: (name: string) => `Login with ${name}`,
  hint: (name: string) =>
    `Logging out here ends your session here only: you stay logged in at ${name}.`,
  list: 'Your connections',
  loading: 'Loading your connections',
  loadFailed: 'Your connections could not be loaded.',
  none: (name: string) =>
    `Your account is not connected. Log in with ${name} once, with the same email address, to connect it.`,
  createdOn: (day: string) => `Connected on ${day}`,
  lastUsed: (time: string) => `Last used ${time}`,
  remove: 'Remove',
  removeOf: (email: string) => `Remove ${email}`,
  removeQuestion: (email: string) => `Remove the connection with ${email}?`,
  removeWarning: (name: string) =>
    `You can no longer log in with ${name}, until you connect it again by your password.`,
  removed: 'The connection was removed.',
  last: 'Nobody could log in to this account anymore. Set a password first.',
};
