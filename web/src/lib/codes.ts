/** Rules of the codes of links. The backend has the same in services/shared/link_codes.py. */
import { CODE_PATTERN, reserved, routes, TRAILING_PATTERN } from './edgeNames';

const CODE = new RegExp(`^${CODE_PATTERN}$`);
const SHORT_URL = new RegExp(`^/?(${CODE_PATTERN})${TRAILING_PATTERN}*$`, 'u');
const routeNames = new Set(routes);
const reservedNames = new Set([...reserved, ...routes.map((name) => name.toLowerCase())]);

/** Whether a text has the shape of a code: 4 to 32 characters of A-Z a-z 0-9 - _. */
export function isCode(text: string): boolean {
  return CODE.test(text);
}

/** Whether `/<text>` is a page, a function or another path of the product, and not a short URL. */
export function isRoute(text: string): boolean {
  return routeNames.has(text);
}

/**
 * Returns the code of the short URL `/<text>`, or null if the path is not a short URL.
 *
 * Ignores a second slash before the code, and punctuation and white space after it, like the gateway.
 */
export function addressedCode(text: string): string | null {
  const code = SHORT_URL.exec(text)?.[1];
  return code === undefined || isRoute(code) ? null : code;
}

/** Whether no new link can have this code, in any combination of upper and lower case. */
export function isReserved(text: string): boolean {
  return reservedNames.has(text.toLowerCase());
}
