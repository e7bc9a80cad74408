/** Reads texts as web URLs. */

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:(?<rest>.*)$/s;
const PORT = /^[0-9]+(?:$|[/?#])/;
const WEB_URL = /^https?:\/\/[^/\\?#]/i;

/** Returns a text as a full URL, with http if it has no scheme, or null if it is not a web URL. */
export function webUrl(text: string): string | null {
  const full = hasScheme(text) ? text : `http://${text}`;
  return WEB_URL.test(full) && URL.canParse(full) ? full : null;
}

/** Whether a text has a scheme. `example.com:8081/x` has none: a port follows the colon. */
function hasScheme(text: string): boolean {
  const rest = SCHEME.exec(text)?.groups?.['rest'];
  return rest !== undefined && !PORT.test(rest);
}
