/** Texts of the shortener page, beside those of the shortener itself. */
export const messages = {
  title: 'Shortener',
  description: 'Shorten a link in three steps: have a link, paste the link, share the link.',
  heading: 'Shorten a link',
  howTo: 'How to use',
  steps: [
    { title: 'Have a link', text: 'Any URL that is too long to type, print or send.' },
    { title: 'Paste the link', text: 'Paste it into the field above and press Shorten.' },
    { title: 'Share the link', text: 'Click the short URL to copy it, then share it anywhere.' },
  ],
};
