/** Texts of the section 'Sessions' on the settings page. */
export const messages = {
  title: 'Sessions',
  hint: 'The browsers in which you are logged in. No IP address is stored.',
  list: 'Your sessions',
  loading: 'Loading your sessions',
  loadFailed: 'Your sessions could not be loaded.',
  current: 'This session',
  since: (time: string) => `Logged in ${time}`,
  lastUsed: (time: string) => `Last used around ${time}`,
  end: 'Log out',
  endOf: (browser: string, time: string) => `Log out ${browser}, logged in ${time}`,
  endOthers: 'Log out all other sessions',
  ended: 'The session was logged out.',
  othersEnded: 'All other sessions were logged out.',
  failed: 'Something went wrong. Please try again.',
};
