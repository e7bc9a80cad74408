/** Texts of the shortener. Texts of guest links and of the options load with those. */
import { messages as shared } from '../../components/messages';
import { fromNow } from '../../lib/format';
import type { UrlProblem } from './url';

export const messages = {
  field: 'Link to shorten',
  placeholder: 'Paste a long link',
  shorten: 'Shorten',
  customize: 'Customize',
  logIn: 'Log in',
  toShorten: ' to shorten links.',
  results: 'New short links',
  makeQr: 'Make a QR code',
  working: 'Shortening',
  waiting: 'Waiting for a connection',
  retrying: (duration: number) => `Trying again ${fromNow(duration)}`,
  ready: (url: string) => `Short URL ready: ${url}`,
  invalidToken: 'Invalid user token',
  invalid: 'Enter a valid URL',
  'too-long': 'URL is too long',
  'no-scheme': 'Incluse https:// or http:// to url',
  taken: 'This ending is taken.',
  unlisted: 'This domain is no longer offered. Choose another one.',
  blocked: 'This link cannot be shortened.',
  full: shared.accountFull,
} satisfies Record<UrlProblem | 'blocked' | 'full', string> & Record<string, unknown>;
