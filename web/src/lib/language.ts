/** The language of this build. Each language in languages/ has a module in place of this one. */
export const language = {
  /** BCP 47 tag of the texts, numbers, plurals and names. */
  tag: 'en',
  /** Locale of dates. */
  dates: 'en-GB',
};
