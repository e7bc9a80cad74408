import { useEffect } from 'react';
import { announce } from '../lib/announce';
import styles from './Spinner.module.css';

/** Milliseconds after which a wait is worth a word. */
const WORTH_SAYING = 200;

/** Turns while something is really being tried, and says so in words. */
export function Spinner({ label }: { label: string }) {
  useEffect(() => {
    const timer = setTimeout(() => announce(label), WORTH_SAYING);
    return () => clearTimeout(timer);
  }, [label]);

  return (
    <span className={styles.spinner}>
      <svg viewBox="0 0 24 24" role="img" aria-label={label}>
        <circle cx="12" cy="12" r="9" pathLength="100" />
      </svg>
    </span>
  );
}
