import { useEffect } from 'react';
import { announce } from '../lib/announce';
import styles from './Spinner.module.css';

/** Milliseconds after which a wait is announced. */
const ANNOUNCE_AFTER = 200;

/** A spinner that announces its label if the wait is long. */
export function Spinner({ label }: { label: string }) {
  useEffect(() => {
    const timer = setTimeout(() => announce(label), ANNOUNCE_AFTER);
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
