// Made by `make edge` from deploy/edge.toml: change that.

/** The paths of the pages. */
export const pages = {
  home: '/',
  shortener: '/short-link',
  qr: '/custom-qr-generator',
  login: '/login',
  register: '/register',
  account: '/my-account',
  terms: '/terms-of-use',
  privacy: '/privacy-policies',
  notFound: '/not-found',
} as const;

/** The paths of the functions, which are called by POST. */
export const functions = {
  createShortLink: '/createShortLink',
  accessLink: '/accessLink',
  verifyUser: '/verifyUser',
  registerUser: '/registerUser',
  showProfile: '/showProfile',
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
  'createShortLink',
  'custom-qr-generator',
  'login',
  'my-account',
  'not-found',
  'privacy-policies',
  'register',
  'registerUser',
  'robots.txt',
  'short-link',
  'showProfile',
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
  'contact',
  'cookies',
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
  'pricing',
  'privacy',
  'privacy-policies',
  'profile',
  'public',
  'readyz',
  'register',
  'registeruser',
  'report',
  'reports',
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
  'showprofile',
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
