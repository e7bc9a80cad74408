// Made by `make edge` from deploy/edge.toml: change that.

/** The paths of the pages. */
export const pages = {
  home: '/',
  shortener: '/short-link',
  qr: '/custom-qr-generator',
  login: '/login',
  register: '/register',
  account: '/my-account',
  settings: '/my-account/settings',
  link: '/links/:code',
  preview: '/:code+',
  terms: '/terms-of-use',
  privacy: '/privacy-policies',
  notFound: '/not-found',
} as const;

/** The path of the page `link` for a link's code. */
export function linkPath(code: string): string {
  return `/links/${code}`;
}

/** The path of the page `preview` for a link's code. */
export function previewPath(code: string): string {
  return `/${code}+`;
}

/** The paths of the functions, which are called by POST. */
export const functions = {
  createShortLink: '/createShortLink',
  accessLink: '/accessLink',
  verifyUser: '/verifyUser',
  registerUser: '/registerUser',
  showProfile: '/showProfile',
  showLink: '/showLink',
  showLinks: '/showLinks',
  changeLink: '/changeLink',
  removeLinks: '/removeLinks',
  restoreLinks: '/restoreLinks',
  claimLinks: '/claimLinks',
  showStatistics: '/showStatistics',
  changePassword: '/changePassword',
  removeAccount: '/removeAccount',
  previewLink: '/previewLink',
  reportLink: '/reportLink',
  createScanCode: '/createScanCode',
} as const;

/** What the gateway answers itself. */
export const gateway = {
  robots: '/robots.txt',
  sitemap: '/sitemap.xml',
  status: '/status',
} as const;

/** The first segments of all paths above: no link is looked up under them. */
export const routes: readonly string[] = [pages, functions, gateway]
  .flatMap((paths) => Object.values(paths))
  .map((path) => path.split('/')[1] ?? '')
  .filter((segment) => /^[^:]/.test(segment));

/** What no new link may have as its code beside them, in lower case. */
export const reserved: readonly string[] = [
  'about',
  'abuse',
  'account',
  'accounts',
  'admin',
  'api',
  'app',
  'assets',
  'atajo',
  'auth',
  'blog',
  'contact',
  'cookies',
  'dashboard',
  'docs',
  'download',
  'favicon',
  'graphql',
  'health',
  'healthz',
  'help',
  'home',
  'index',
  'install',
  'legal',
  'livez',
  'logout',
  'manage',
  'manifest',
  'metrics',
  'mobile',
  'news',
  'null',
  'oauth',
  'portfolio',
  'preview',
  'pricing',
  'privacy',
  'profile',
  'public',
  'readyz',
  'report',
  'reports',
  'robots',
  'root',
  'search',
  'security',
  'settings',
  'share',
  'short',
  'shorten',
  'signin',
  'signup',
  'sitemap',
  'static',
  'statistics',
  'stats',
  'support',
  'system',
  'terms',
  'test',
  'undefined',
  'user',
  'users',
  'well-known',
  'www',
];

/** The 64 characters of a code. */
export const CODE_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** Characters of the codes that the page makes. */
export const CODE_LENGTH = 8;
/** A code as a regular expression, without anchors. */
export const CODE_PATTERN = '[A-Za-z0-9_-]{4,32}';
/** The characters that may follow a code in a short URL, as a regular expression of one of them. */
export const TRAILING_PATTERN =
  '[\\u0009-\\u000d\\u0020-\\u0022\\u0027\\u0029-\\u002a\\u002c\\u002e-\\u002f\\u003a-\\u003b\\u003e-\\u003f\\u005d\\u007d\\u0085\\u00a0\\u00ab\\u00bb\\u1680\\u2000-\\u200d\\u2018-\\u201f\\u2026\\u2028-\\u2029\\u202f\\u2039-\\u203a\\u205f-\\u2060\\u3000\\u300c-\\u300f\\u301d-\\u301f\\ufeff]';
