/** Links that other pages and apps share with `/share`. What they send is text by strangers. */
import { linkInText } from './linkInText';

/** A web address in the field `url`, up to white space or a character that no URL has. */
const LINK = /https?:\/\/[^\s<>"]+/i;

const FINDERS = {
  url: (text: string) => LINK.exec(text)?.[0] ?? null,
  text: linkInText,
  title: linkInText,
};

/**
 * Returns the first http(s) URL of the fields `url`, `text` and `title`, in this order, or null.
 *
 * The fields are in the query, or in the fragment, which browsers send to no server.
 */
export function sharedLink(search: string, hash: string): string | null {
  const sources = [new URLSearchParams(search), new URLSearchParams(hash.slice(1))];
  for (const [name, find] of Object.entries(FINDERS)) {
    for (const source of sources) {
      const link = find(source.get(name) ?? '');
      if (link !== null && URL.canParse(link)) return link;
    }
  }
  return null;
}
