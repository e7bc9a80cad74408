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
export const routes: readonly string[] = [
  'accessLink',
  'changeLink',
  'changePassword',
  'claimLinks',
  'createScanCode',
  'createShortLink',
  'custom-qr-generator',
  'links',
  'login',
  'my-account',
  'not-found',
  'previewLink',
  'privacy-policies',
  'register',
  'registerUser',
  'removeAccount',
  'removeLinks',
  'reportLink',
  'restoreLinks',
  'robots.txt',
  'short-link',
  'showLink',
  'showLinks',
  'showProfile',
  'showStatistics',
  'sitemap.xml',
  'status',
  'terms-of-use',
  'verifyUser',
];

/** What no new link may have as its code, in lower case. */
export const reserved: readonly string[] = [
  'about',
  'abuse',
  'accesslink',
  'account',
  'accounts',
  'admin',
  'api',
  'app',
  'assets',
  'atajo',
  'auth',
  'blog',
  'changelink',
  'changepassword',
  'claimlinks',
  'contact',
  'cookies',
  'createscancode',
  'createshortlink',
  'custom-qr-generator',
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
  'links',
  'livez',
  'login',
  'logout',
  'manage',
  'manifest',
  'metrics',
  'mobile',
  'my-account',
  'news',
  'not-found',
  'null',
  'oauth',
  'portfolio',
  'preview',
  'previewlink',
  'pricing',
  'privacy',
  'privacy-policies',
  'profile',
  'public',
  'readyz',
  'register',
  'registeruser',
  'removeaccount',
  'removelinks',
  'report',
  'reportlink',
  'reports',
  'restorelinks',
  'robots',
  'robots.txt',
  'root',
  'search',
  'security',
  'settings',
  'share',
  'short',
  'short-link',
  'shorten',
  'showlink',
  'showlinks',
  'showprofile',
  'showstatistics',
  'signin',
  'signup',
  'sitemap',
  'sitemap.xml',
  'static',
  'statistics',
  'stats',
  'status',
  'support',
  'system',
  'terms',
  'terms-of-use',
  'test',
  'undefined',
  'user',
  'users',
  'verifyuser',
  'well-known',
  'www',
];

/** The 64 characters of a code. */
export const CODE_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** Characters of the codes that the page makes. */
export const CODE_LENGTH = 8;
/** A code as a regular expression, without anchors. */
export const CODE_PATTERN = '[A-Za-z0-9_-]{4,32}';
