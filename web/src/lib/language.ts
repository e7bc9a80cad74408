/** The language of this build. Each language in languages/ has a module in place of this one. */
export const language = {
  /** BCP 47 tag of the texts, plurals and names; of numbers for visitors without a region. */
  tag: 'en',
  /** Locale of dates for visitors without a region. */
  dates: 'en-GB',
};
