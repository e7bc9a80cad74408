/** Texts of the frame: the header, the footer, and a page that did not load. */
import type { Theme } from '../lib/theme';

export const messages = {
  skip: 'Skip to content',
  loading: 'Loading',
  menu: 'Menu',
  mainMenu: 'Main',
  home: 'HOME',
  shortener: 'SHORTENER',
  qr: 'QR CODE',
  login: 'LOGIN',
  register: 'REGISTER',
  account: 'MY ACCOUNT',
  footer: 'Footer',
  terms: 'TERMS OF USE',
  privacy: 'PRIVACY POLICIES',
  api: 'API',
  portfolio: 'PORTFOLIO',
  contact: 'CONTACT',
  language: 'Language',
  theme: 'Theme',
  themes: { system: 'System', light: 'Light', dark: 'Dark' } satisfies Record<Theme, string>,
  notLoadedTitle: 'Page not loaded',
  notLoaded: 'This page did not load',
  notLoadedReason: 'You may be offline, or a new version is available.',
  reload: 'Reload',
};
