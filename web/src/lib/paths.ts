/** Every path of the product, once. The route table and all links read from here. */
export const paths = {
  home: '/',
  shortener: '/short-link',
  qr: '/custom-qr-generator',
  login: '/login',
  register: '/register',
  account: '/my-account',
  terms: '/terms-of-use',
  privacy: '/privacy-policies',
  notFound: '/not-found',
  redirect: '/:shortLink',
} as const;

/** The 64 characters a short code is made of. */
export const CODE_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
export const CODE_LENGTH = 8;
const CODE = /^[A-Za-z0-9_-]{8}$/;

const reserved: ReadonlySet<string> = new Set(
  Object.values(paths)
    .map((path) => path.slice(1))
    .filter((name) => CODE.test(name)),
);

/** A code that could be a short link: well formed, and no route of the product. */
export function isCode(text: string): boolean {
  return CODE.test(text) && !reserved.has(text);
}
