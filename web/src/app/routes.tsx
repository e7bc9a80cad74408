import type { ComponentType } from 'react';
import { Route, Routes } from 'react-router-dom';
import { paths } from '../lib/paths';
import { HomePage } from '../pages/HomePage';
import { NotFoundPage } from '../pages/NotFoundPage';
import { lazyPage, type LazyPage } from './lazyPage';

// The home page and the not-found page load with the document, the others with their route.
const ShortenerPage = lazyPage(() => import('../pages/ShortenerPage'));
const QrPage = lazyPage(() => import('../pages/QrPage'));
const LoginPage = lazyPage(() => import('../pages/LoginPage'));
const RegisterPage = lazyPage(() => import('../pages/RegisterPage'));
const ResetPasswordPage = lazyPage(() => import('../pages/ResetPasswordPage'));
const AccountPage = lazyPage(() => import('../pages/AccountPage'));
const AdminPage = lazyPage(() => import('../pages/AdminPage'));
const LinkPage = lazyPage(() => import('../pages/LinkPage'));
const PreviewPage = lazyPage(() => import('../pages/PreviewPage'));
const RedirectPage = lazyPage(() => import('../pages/RedirectPage'));
const SettingsPage = lazyPage(() => import('../pages/SettingsPage'));
const OidcCallbackPage = lazyPage(() => import('../pages/OidcCallbackPage'));
const ImportPage = lazyPage(() => import('../pages/ImportPage'));
const SharePage = lazyPage(() => import('../pages/SharePage'));
const TermsPage = lazyPage(() => import('../pages/TermsPage'));
const OtherPage = lazyPage(() => import('../pages/OtherPage'));
const PrivacyPage = lazyPage(() => import('../pages/PrivacyPage'));

type Name = keyof typeof paths;

/** The page of each path. */
const shown: Record<Name, ComponentType> = {
  home: HomePage,
  shortener: ShortenerPage,
  qr: QrPage,
  login: LoginPage,
  register: RegisterPage,
  resetPassword: ResetPasswordPage,
  account: AccountPage,
  settings: SettingsPage,
  oidcCallback: OidcCallbackPage,
  import: ImportPage,
  admin: AdminPage,
  link: LinkPage,
  preview: PreviewPage,
  share: SharePage,
  terms: TermsPage,
  privacy: PrivacyPage,
  notFound: NotFoundPage,
  redirect: RedirectPage,
};

/**
 * Loads the code of a page, so that it can be rendered at once. Throws if it does not load.
 */
export async function preloadPage(path: string): Promise<void> {
  const [name] = Object.entries(paths).find(([, own]) => own === path) ?? [];
  const page = name && shown[name as Name];
  if (page && 'preload' in page) await (page as LazyPage).preload();
}

/** The routes. Paths are case-sensitive, as codes are: /Register may be the short URL of a link. */
export function AppRoutes() {
  return (
    <Routes>
      {Object.entries(shown).map(([name, Page]) => (
        <Route key={name} path={paths[name as Name]} element={<Page />} caseSensitive />
      ))}
      <Route path="*" element={<OtherPage />} />
    </Routes>
  );
}
