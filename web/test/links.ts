/** Links as the server returns them, and lists of them. */
import { data, type Reply } from './server';
import type { Link } from '../src/api';
import { newLink } from '../src/api/functions';

const CREATED = '2026-11-20T10:00:00Z';

export function link(code: string, url: string, more: Partial<Link> = {}): Link {
  return { ...newLink(code, url, CREATED), ...more };
}

/** Returns a reply with a page of a list, by default the only one. */
export function page(links: Link[], total = links.length, cursor: string | null = null): Reply {
  return data({ success: true, links: links.map(onWire), total, cursor });
}

/** Returns a reply with a link and its earlier destinations. */
export function details(one: Link, history: { long_link: string; until: string }[] = []): Reply {
  return data({ success: true, link: onWire(one), history });
}

export function changed(one: Link): Reply {
  return data({ success: true, link: onWire(one) });
}

function onWire(one: Link): object {
  return { ...one, short_link: one.code, short_url: `https://atajo.example/${one.code}` };
}
