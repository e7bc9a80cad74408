/** Texts of the settings page, beside those of its forms. */
export const messages = {
  title: 'Settings',
  description:
    'Change your password, end sessions, manage API keys, download your links or delete your account.',
  yourLinks: 'Your links',
};
