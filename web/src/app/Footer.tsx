import { useSyncExternalStore } from 'react';
import { Link } from 'react-router-dom';
import languages from 'virtual:languages';
import { chooseLanguage, chosenLanguage, SYSTEM } from '../lib/chosenLanguage';
import { documents } from '../lib/edge';
import { paths } from '../lib/paths';
import { chooseTheme, themes, type Theme } from '../lib/theme';
import { useTheme } from '../lib/useTheme';
import styles from './Footer.module.css';
import { messages } from './messages';

export function Footer({ inert }: { inert: boolean }) {
  return (
    <footer className={styles.footer} inert={inert}>
      <div className={styles.row}>
        <nav className={styles.links} aria-label={messages.footer}>
          <Link to={paths.terms}>{messages.terms}</Link>
          <Link to={paths.privacy}>{messages.privacy}</Link>
          <a href={documents.api} hrefLang="en">
            {messages.api}
          </a>
          <NotReady>{messages.portfolio}</NotReady>
          <NotReady>{messages.contact}</NotReady>
        </nav>
        <div className={styles.settings}>
          <LanguageSwitch />
          <ThemeSwitch />
        </div>
      </div>
    </footer>
  );
}

/** A placeholder for a link without a target yet: visible, marked as disabled, and inactive. */
function NotReady({ children }: { children: string }) {
  return (
    // eslint-disable-next-line jsx-a11y/anchor-is-valid -- a placeholder link has no URL
    <a role="link" aria-disabled="true" className={styles.notReady}>
      {children}
    </a>
  );
}

function LanguageSwitch() {
  const chosen = useSyncExternalStore(never, chosenLanguage, () => SYSTEM);
  return (
    <label className={styles.setting}>
      {messages.language}
      <select value={chosen} onChange={(event) => chooseLanguage(event.target.value)}>
        <option value={SYSTEM}>{messages.themes.system}</option>
        {languages.map(([tag, name]) => (
          <option key={tag} value={tag} lang={tag}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function ThemeSwitch() {
  const theme = useTheme();
  return (
    <label className={styles.setting}>
      {messages.theme}
      <select value={theme} onChange={(event) => chooseTheme(event.target.value as Theme)}>
        {themes.map((name) => (
          <option key={name} value={name}>
            {messages.themes[name]}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A choice reloads the document. */
function never(): () => void {
  return () => undefined;
}
