import { Link } from 'react-router-dom';
import { paths } from '../lib/paths';
import { chooseTheme, themes, useTheme, type Theme } from '../lib/theme';
import styles from './Footer.module.css';

export function Footer({ inert }: { inert: boolean }) {
  return (
    <footer className={styles.footer} inert={inert}>
      <div className={styles.row}>
        <nav className={styles.links} aria-label="Footer">
          <Link to={paths.terms}>TERMS OF USE</Link>
          <Link to={paths.privacy}>PRIVACY POLICIES</Link>
          <NotReady>PORTFOLIO</NotReady>
          <NotReady>CONTACT</NotReady>
        </nav>
        <ThemeSwitch />
      </div>
    </footer>
  );
}

/** A link that leads nowhere yet: present, marked, and does nothing. */
function NotReady({ children }: { children: string }) {
  return (
    // eslint-disable-next-line jsx-a11y/anchor-is-valid -- a placeholder link has no address
    <a role="link" aria-disabled="true" className={styles.notReady}>
      {children}
    </a>
  );
}

function ThemeSwitch() {
  const theme = useTheme();
  return (
    <label className={styles.theme}>
      Theme
      <select value={theme} onChange={(event) => chooseTheme(event.target.value as Theme)}>
        {themes.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
