/**
 * `apache.conf`: a virtual host with a RewriteRule for each code. Rules are tried in their order, so
 * they are grouped by the first two characters, and each group is passed over by one rule.
 */
import type { Redirect } from '../exported';

/** `redirects` are sorted. `comment` is put first, line by line. */
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

/** Runs of redirects whose codes begin with the same characters. */
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

/** Passes over the next `count` rules unless the path begins as those of the group. */
function unless([first]: readonly Redirect[], length: number, count: number): string {
  return `RewriteRule "!^/${first?.code.slice(0, length) ?? ''}" - [S=${count}]\n`;
}

/** Writes a Location, which has no white space, as what mod_rewrite expands to it. */
function substitution(location: string): string {
  // `${` would be a variable of the file.
  const escaped = location.replace(/[\\$%]/g, '\\$&').replaceAll('${', '$\\{');
  // It would escape the space behind the argument. The pattern has no group: `$1` is empty.
  if (escaped.endsWith('\\')) return `${escaped}$1`;
  // mod_rewrite removes an & from the end of a query, and a query that was empty before.
  return /\?(?:.*&)?$/.test(location) ? `${escaped}&` : escaped;
}
