/** Links in the form that the files of an export need. */
import type { FormerAddress, Link } from '../../api';

export interface ExportedLink extends Link {
  /** Earlier destinations, newest first. */
  history: FormerAddress[];
}

/**
 * A redirect: a path of the product's host, without its slash, and the Location of the response.
 */
export interface Redirect {
  code: string;
  location: string;
}

/**
 * Returns the redirects of a link under its code and its scan code, none if it does not redirect.
 */
export function redirectsOf(link: ExportedLink): Redirect[] {
  const target = targetOf(link);
  if (target === null) return [];
  const location = locationOf(target);
  return [link.code, link.scan_code]
    .filter((code) => code !== undefined)
    .map((code) => ({ code, location }));
}

function targetOf({ state, long_link, ended_url }: Link): string | null {
  if (state === 'active') return long_link;
  return state === 'expired' ? ended_url : null;
}

const encoder = new TextEncoder();

/**
 * Returns a URL as the value of a Location header: percent-encodes the UTF-8 bytes of everything
 * that is not visible ASCII.
 */
export function locationOf(url: string): string {
  return url.replace(/[^!-~]+/gu, (run) =>
    Array.from(
      encoder.encode(run),
      (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    ).join(''),
  );
}

/** Sorts redirects by the bytes of their codes, as nginx does. */
export function sorted(redirects: readonly Redirect[]): Redirect[] {
  return redirects.toSorted((one, other) => (one.code < other.code ? -1 : 1));
}
