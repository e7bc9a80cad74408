/** Links as the files of an export need them. */
import type { FormerAddress, Link } from '../../api';

export interface ExportedLink extends Link {
  /** Earlier destinations, newest first. */
  history: FormerAddress[];
}

/** A path of the product's host, without its slash, and the Location that it answers. */
export interface Redirect {
  code: string;
  location: string;
}

/** What a short URL answers now, under its code and its scan code; nothing if it redirects nowhere. */
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

/** A URL as the value of a Location header: what is not visible ASCII is percent-encoded, as in UTF-8. */
export function locationOf(url: string): string {
  return url.replace(/[^!-~]+/gu, (run) =>
    Array.from(
      encoder.encode(run),
      (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    ).join(''),
  );
}

/** Orders redirects by the bytes of their codes, as nginx does. */
export function sorted(redirects: readonly Redirect[]): Redirect[] {
  return redirects.toSorted((one, other) => (one.code < other.code ? -1 : 1));
}
