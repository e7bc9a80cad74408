import type { Link } from './functions';

/** A new link, as it is until the server answered. */
export function newLink(
  shortCode: string,
  url: string,
  created_at = new Date().toISOString(),
): Link {
  return {
    code: shortCode,
    long_link: url,
    title: '',
    tags: [],
    state: 'active',
    reason: null,
    created_at,
    changed_at: null,
    expires_at: null,
    ended_url: null,
    public_statistics: false,
    views: 0,
    bots: 0,
  };
}
