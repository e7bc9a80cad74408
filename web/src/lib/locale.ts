import { language } from './language';

/** Locales of numbers and dates: the visitor's, with its region, if its language is the page's. */
export const locale = localeOf(import.meta.env.SSR ? [] : navigator.languages);

/** Returns the first of a visitor's locales that has the page's language and a region. */
function localeOf(accepted: readonly string[]): { numbers: string; dates: string } {
  const [primary] = language.tag.split('-');
  const regional = accepted.find(
    (each) => each.toLowerCase().startsWith(`${primary}-`) && isValid(each),
  );
  return { numbers: regional ?? language.tag, dates: regional ?? language.dates };
}

/** Some browsers have a locale that Intl refuses, such as en-US@posix. */
function isValid(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}
