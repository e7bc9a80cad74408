/** Links that other pages and apps share with `/share`. What they send is text by strangers. */

/** A web address within a text, up to white space or a character that no URL has. */
const LINK = /https?:\/\/[^\s<>"]+/i;

/**
 * Returns the first http(s) URL of the fields `url`, `text` and `title`, in this order, or null.
 *
 * The fields are in the query, or in the fragment, which browsers send to no server.
 */
export function sharedLink(search: string, hash: string): string | null {
  const sources = [new URLSearchParams(search), new URLSearchParams(hash.slice(1))];
  for (const name of ['url', 'text', 'title']) {
    for (const source of sources) {
      const [link] = LINK.exec(source.get(name) ?? '') ?? [];
      if (link !== undefined && URL.canParse(link)) return link;
    }
  }
  return null;
}
