/** What the code of a link can be. The back end has the same in services/shared/link_codes.py. */
import { CODE_PATTERN, reserved, routes, TRAILING_PATTERN } from './edge';

const CODE = new RegExp(`^${CODE_PATTERN}$`);
const SHORT_URL = new RegExp(`^(${CODE_PATTERN})${TRAILING_PATTERN}*$`);
const routeNames = new Set(routes);
const reservedNames = new Set([...reserved, ...routes.map((name) => name.toLowerCase())]);

/** Whether a text has the shape of a code: 4 to 32 characters of A-Z a-z 0-9 - _. */
export function isCode(text: string): boolean {
  return CODE.test(text);
}

/** Whether `/<text>` is a page, a function or another path of the product, and no short address. */
export function isRoute(text: string): boolean {
  return routeNames.has(text);
}

/**
 * The code of the short URL `/<text>`, null if the path is no short URL. Punctuation and white space
 * after the code are ignored, as by the gateway.
 */
export function addressedCode(text: string): string | null {
  const code = SHORT_URL.exec(text)?.[1];
  return code === undefined || isRoute(code) ? null : code;
}

/** Whether no new link may have this code, in whatever mixture of capital and small letters. */
export function isReserved(text: string): boolean {
  return reservedNames.has(text.toLowerCase());
}
