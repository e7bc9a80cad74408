/**
 * `apache.conf`: a virtual host with a RewriteRule for each code.
 *
 * Apache tries rules in order. They are therefore grouped by the first character and then by the
 * first two characters. One rule skips each group.
 */
import type { Redirect } from '../exported';

/** Yields the file in pieces. `redirects` must be sorted. The lines of `comment` come first. */
export function* apacheConf(
  redirects: readonly Redirect[],
  host: string,
  comment: readonly string[],
): Generator<string> {
  yield `${comment.map((line) => `# ${line}\n`).join('')}
<VirtualHost *:80>
ServerName ${host}
RewriteEngine On
`;
  for (const letter of groupsOf(redirects, 1)) {
    const pairs = [...groupsOf(letter, 2)];
    yield unless(letter, 1, letter.length + pairs.length);
    for (const pair of pairs) {
      yield unless(pair, 2, pair.length);
      for (const { code, location } of pair) {
        const target = substitution(location);
        yield `RewriteRule "^/${code}$" ${target} [R=302,NE,QSD,L]\n`;
      }
    }
  }
  yield '</VirtualHost>\n';
}

/** Yields runs of redirects whose codes begin with the same `length` characters. */
function* groupsOf(redirects: readonly Redirect[], length: number): Generator<Redirect[]> {
  let group: Redirect[] = [];
  for (const redirect of redirects) {
    if (group[0] && !redirect.code.startsWith(group[0].code.slice(0, length))) {
      yield group;
      group = [];
    }
    group.push(redirect);
  }
  if (group.length > 0) yield group;
}

/**
 * Returns a rule that skips the next `count` rules unless the path begins like those of the group.
 */
function unless([first]: readonly Redirect[], length: number, count: number): string {
  return `RewriteRule "!^/${first?.code.slice(0, length) ?? ''}" - [S=${count}]\n`;
}

/** Returns the substitution that mod_rewrite expands to a Location, which has no white space. */
function substitution(location: string): string {
  // Apache expands `${` as a variable of the file.
  const escaped = location.replace(/[\\$%]/g, '\\$&').replaceAll('${', '$\\{');
  // A backslash would escape the space after the argument. `$1` is empty: the pattern has no group.
  if (escaped.endsWith('\\')) return `${escaped}$1`;
  // mod_rewrite removes an & from the end of a query, and it removes an empty query.
  return /\?(?:.*&)?$/.test(location) ? `${escaped}&` : escaped;
}
