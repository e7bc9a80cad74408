/** Texts of the two pages that load with the document. */
export const home = {
  title: 'Short links and QR codes',
  description:
    'Shorten a long link to eight characters, count its visits and create a QR code in your colors.',
  noAccountNeeded: 'Free, no account needed.',
  heading: 'Shorten, share and track your links',
  lead: 'Paste a long link to get a short one, free and without an account.',
  leadForAccounts: 'Paste a long link to get a short one.',
  reasons: 'Why Atajo',
  analytics: 'Advanced analytics',
  analyticsText: 'See how many people open each link. Bots are counted separately.',
  customization: 'Unique customization',
  customizationText: 'Create QR codes in your colors, with your logo in the center.',
  sampleCode: '/k7Qm2_xB',
  free: 'Free and hassle-free',
  freeText: 'No cost and no trial.',
  optionalAccount: 'An account is optional and keeps your links together.',
};

export const notFound = {
  title: 'Page not found',
  description: 'There is no page and no short link at this address.',
  heading: 'PAGE NOT FOUND',
  text: 'The link may be mistyped, or it no longer exists.',
  goHome: 'GO HOME',
};
