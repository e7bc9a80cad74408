/**
 * Rules of the URLs that can be shortened.
 *
 * The backend has the same rules in Python. tests/links/url_cases.json tests both. The page sends
 * the cleaned text and the server decides. The check here only chooses the messages that need no
 * request.
 */
import { addressedCode } from '../../lib/codes';
import { codePoints } from '../../lib/text';
import { webUrl } from '../../lib/urls';
import { cleanUrl } from './cleanUrl';

export { cleanUrl };

export type UrlProblem = 'invalid' | 'too-long' | 'no-scheme';
export type UrlVerdict = { ok: true; stored: string } | { ok: false; problem: UrlProblem };

interface Rules {
  /** The product's own: that of the public URL, then further ones. */
  origins: readonly string[];
  /** Whether the text must contain a scheme or the product's own host, as on the home page. */
  wantsScheme: boolean;
}

const MIN_LENGTH = 3;
const MAX_LENGTH = 999;
/** Of a URL with what surrounds it. */
const MAX_GIVEN_LENGTH = 1200;

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
/** `://` before the path, query and fragment, after anything but `http` or `https`. */
const NO_WEB_SCHEME = /^(?!https?:\/\/)[^/?#]*:\/\//i;
/** Text that could be a URL with user info; but people who type it mean the address. */
const EMAIL_ADDRESS = /^[^@:/\\?#]+@[^@:/\\?#]+$/;
const SCHEME_AS_HOST = /^https?[^a-z0-9]*$/;
const AUTHORITY =
  /^(?<before>https?:\/\/(?:[^/\\?#]*@)?)(?<host>[^/\\?#]*?)(?<port>:[0-9]*)?(?<after>[/\\?#].*)?$/is;

export function checkUrl(text: string, { origins, wantsScheme }: Rules): UrlVerdict {
  if (codePoints(text) > MAX_GIVEN_LENGTH) return refused('too-long');
  const given = cleanUrl(text);
  const length = codePoints(given);
  if (length < MIN_LENGTH) return refused('invalid');
  if (length > MAX_LENGTH) return refused('too-long');
  if (hasLoneSurrogate(given) || EMAIL_ADDRESS.test(given)) return refused('invalid');

  const own = origins.map((origin) => new URL(origin));
  if (wantsScheme && !mentionsScheme(given, own)) return refused('no-scheme');
  if (CONTROL.test(given) || NO_WEB_SCHEME.test(given)) return refused('invalid');

  const full = webUrl(given);
  if (full === null) return refused('invalid');
  const url = new URL(full);
  if (/^\.*$/.test(url.hostname) || isDoubledScheme(full, url)) return refused('invalid');
  if (own.some((each) => isLoop(url, each))) return refused('invalid');
  return { ok: true, stored: withAsciiHost(full, url.hostname) };
}

function refused(problem: UrlProblem): UrlVerdict {
  return { ok: false, problem };
}

function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

function mentionsScheme(text: string, own: readonly URL[]): boolean {
  const lower = text.toLowerCase();
  return ['http://', 'https://', ...own.map(({ host }) => host)].some((part) =>
    lower.includes(part),
  );
}

/**
 * Whether the host is a second scheme: `http://https//a.example` leads to a host named `https`.
 * With a port it is a host: `http:80`.
 */
function isDoubledScheme(full: string, { hostname }: URL): boolean {
  const port = AUTHORITY.exec(full)?.groups?.['port'];
  return SCHEME_AS_HOST.test(hostname) && !/[0-9]/.test(port ?? '');
}

/**
 * Whether a URL is a short URL of the product itself, in any spelling. It would redirect in a loop.
 */
function isLoop(url: URL, own: URL): boolean {
  return sameHost(url.hostname, own.hostname) && samePort(url, own) && isShortPath(url.pathname);
}

function sameHost(one: string, other: string): boolean {
  const [a, b] = [one, other].map((host) => host.replace(/\.$/, ''));
  return a === b || (isLoopback(a ?? '') && isLoopback(b ?? ''));
}

function isLoopback(host: string): boolean {
  return (
    /(?:^|\.)localhost$/.test(host) ||
    /^127(?:\.[0-9]+){3}$/.test(host) ||
    /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(host) ||
    ['[::1]', '[::]', '0.0.0.0'].includes(host)
  );
}

const DEFAULT_PORTS = ['80', '443'];

function samePort(url: URL, own: URL): boolean {
  const ownPort = effectivePort(own);
  const ownPorts = DEFAULT_PORTS.includes(ownPort) ? DEFAULT_PORTS : [ownPort];
  return ownPorts.includes(effectivePort(url));
}

function effectivePort({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80');
}

/** Whether a path is that of a short URL: `/k7Qm2_xB` and `/k7Qm2_xB.` are, `/login` is not. */
function isShortPath(pathname: string): boolean {
  const path = resolveDots(decodeOnce(pathname).replaceAll('\\', '/'));
  return addressedCode(path.replace(/^\/+/, '')) !== null;
}

function decodeOnce(path: string): string {
  const bytes = path.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
}

function resolveDots(path: string): string {
  const out: string[] = [];
  const segments = path.split('/').slice(1);
  segments.forEach((segment, index) => {
    const last = index === segments.length - 1;
    if (segment === '..') out.pop();
    else if (segment !== '.') out.push(segment);
    if (last && (segment === '..' || segment === '.')) out.push('');
  });
  return `/${out.join('/')}`;
}

/** Returns a URL exactly as given, except that a host that is not ASCII becomes Punycode. */
function withAsciiHost(full: string, hostname: string): string {
  const parts = AUTHORITY.exec(full)?.groups;
  if (!parts || /^[\x20-\x7e]*$/.test(parts['host'] ?? '')) return full;
  return `${parts['before'] ?? ''}${hostname}${parts['port'] ?? ''}${parts['after'] ?? ''}`;
}
