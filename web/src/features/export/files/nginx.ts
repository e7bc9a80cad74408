/**
 * `nginx.conf`: a server with an exact location for each code. A `map` would ignore case.
 *
 * nginx 1.22 inserts locations into a sorted list from its end. For 100,000 locations this takes
 * seconds if they are in order, and minutes if they are not.
 */
import type { Redirect } from '../exported';

/** nginx cannot escape a dollar sign: `$` always begins a variable. */
const DOLLAR = '${atajo_dollar}';
/** nginx reads at most 4,096 bytes of one argument. */
const MAX_ARGUMENT = 4_000;
/** Characters of a piece. Each takes at most as many bytes as `DOLLAR` has. */
const PIECE = Math.floor(MAX_ARGUMENT / DOLLAR.length);

/** Yields the file in pieces. `redirects` must be sorted. The lines of `comment` come first. */
export function* nginxConf(
  redirects: Iterable<Redirect>,
  host: string,
  comment: readonly string[],
): Generator<string> {
  yield `${comment.map((line) => `# ${line}\n`).join('')}
geo $atajo_dollar {
    default "$";
}

server {
    listen 80;
    server_name ${host};

`;
  for (const { code, location } of redirects) {
    yield `    location = /${code} { ${answer(location)} }\n`;
  }
  yield `
    location / {
        return 404;
    }
}
`;
}

function answer(location: string): string {
  const quoted = quote(location);
  if (quoted.length <= MAX_ARGUMENT) return `return 302 ${quoted};`;
  const pieces = location.match(new RegExp(`.{1,${PIECE}}`, 'g')) ?? [];
  const sets = pieces.map((piece, index) => `set $atajo_part_${index} ${quote(piece)};`);
  const all = pieces.map((_piece, index) => `$atajo_part_${index}`).join('');
  return `${sets.join(' ')} return 302 "${all}";`;
}

function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replaceAll('$', () => DOLLAR)}"`;
}
