import { Route, Routes } from 'react-router-dom';
import { paths } from '../lib/paths';
import { HomePage } from '../pages/HomePage';
import { NotFoundPage } from '../pages/NotFoundPage';
import { RedirectPage } from '../pages/RedirectPage';
import { lazyPage } from './lazyPage';

// The home page and the two small ones come with the document; the others with their route.
const ShortenerPage = lazyPage(() => import('../pages/ShortenerPage'));
const QrPage = lazyPage(() => import('../pages/QrPage'));
const LoginPage = lazyPage(() => import('../pages/LoginPage'));
const RegisterPage = lazyPage(() => import('../pages/RegisterPage'));
const AccountPage = lazyPage(() => import('../pages/AccountPage'));
const TermsPage = lazyPage(() => import('../pages/TermsPage'));
const PrivacyPage = lazyPage(() => import('../pages/PrivacyPage'));

const table = [
  [paths.home, <HomePage key="home" />],
  [paths.shortener, <ShortenerPage key="shortener" />],
  [paths.qr, <QrPage key="qr" />],
  [paths.login, <LoginPage key="login" />],
  [paths.register, <RegisterPage key="register" />],
  [paths.account, <AccountPage key="account" />],
  [paths.terms, <TermsPage key="terms" />],
  [paths.privacy, <PrivacyPage key="privacy" />],
  [paths.notFound, <NotFoundPage key="not-found" />],
  [paths.redirect, <RedirectPage key="redirect" />],
  ['*', <NotFoundPage key="unknown" />],
] as const;

/** Codes are case-sensitive, and so is every path: /Register may be somebody's link. */
export function AppRoutes() {
  return (
    <Routes>
      {table.map(([path, element]) => (
        <Route key={path} path={path} element={element} caseSensitive />
      ))}
    </Routes>
  );
}
