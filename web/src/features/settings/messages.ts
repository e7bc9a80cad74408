/** Texts of the settings page, beside those of its forms. */
export const messages = {
  title: 'Settings',
  description:
    'Change your password, manage passkeys, recovery codes, sessions and API keys, download your links or delete your account.',
  yourLinks: 'Your links',
};
