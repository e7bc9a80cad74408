/** `_redirects`: a rule for each code, in the format of Netlify and Cloudflare Pages. */
import type { Redirect } from '../exported';

export function* redirectsFile(redirects: Iterable<Redirect>): Generator<string> {
  for (const { code, location } of redirects) yield `/${code} ${location} 302\n`;
}
