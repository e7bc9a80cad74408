/** What a text is as an address of the web. */

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:(?<rest>.*)$/s;
const PORT = /^[0-9]+(?:$|[/?#])/;
const WEB_URL = /^https?:\/\/[^/\\?#]/i;

/** In full, by http where it names no scheme; null where it is no web address. */
export function webUrl(text: string): string | null {
  const full = hasScheme(text) ? text : `http://${text}`;
  return WEB_URL.test(full) && URL.canParse(full) ? full : null;
}

/** `example.com:8081/x` has none: what follows the colon is a port. */
function hasScheme(text: string): boolean {
  const rest = SCHEME.exec(text)?.groups?.['rest'];
  return rest !== undefined && !PORT.test(rest);
}
