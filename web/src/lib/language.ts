/** The language of this build. Each language in languages/ has a module in place of this one. */
export const language = {
  /** BCP 47 tag of the texts. */
  tag: 'en',
  /** Locale of numbers, plurals and names. */
  numbers: 'en',
  /** Locale of dates. */
  dates: 'en-GB',
};
