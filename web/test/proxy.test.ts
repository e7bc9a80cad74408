// @vitest-environment node
import { expect, it } from 'vitest';
import config from '../vite.config';

const { server } = config({ command: 'serve', mode: 'development' });
const proxied = (path: string) =>
  Object.keys(server?.proxy ?? {}).some((pattern) => new RegExp(pattern).test(path));

it.each(['/abcd', '/k7Qm2_xB', `/${'a'.repeat(32)}`, '/Login', '/accessLink', '/status'])(
  'forwards %s to the backend',
  (path) => expect(proxied(path)).toBe(true),
);

it.each(['/api/v1', '/api/v1/', '/api/v1?a=b', '/api/v1/links'])(
  'forwards %s to the REST API',
  (path) => expect(proxied(path)).toBe(true),
);

it.each([
  '/',
  '/api',
  '/login',
  '/my-account',
  '/abc',
  `/${'a'.repeat(33)}`,
  '/src/main.tsx',
  '/icon.svg',
])('serves %s itself', (path) => expect(proxied(path)).toBe(false));
