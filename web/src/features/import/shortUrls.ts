/** Extracts the ending of a short URL, which services write with and without scheme and host. */

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/** Returns the whole path: `a/b` for `https://s.example/a/b?x`, '' for the root of a host. */
export function pathOf(shortUrl: string): string {
  const given = shortUrl.trim();
  const bare = given.replace(SCHEME, '').replace(/[?#].*$/s, '');
  const [host = '', ...rest] = bare.split('/');
  const hasHost = bare !== given || /[.:]/.test(host);
  return decoded(trimSlashes(hasHost ? rest.join('/') : bare));
}

/** Returns the last part of the path, for services whose endings contain no slashes. */
export function lastPartOf(shortUrl: string): string {
  return pathOf(shortUrl).split('/').at(-1) ?? '';
}

export function trimSlashes(path: string): string {
  const text = path.trim();
  let [start, end] = [0, text.length];
  while (text.charAt(start) === '/') start += 1;
  while (end > start && text.charAt(end - 1) === '/') end -= 1;
  return text.slice(start, end);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
