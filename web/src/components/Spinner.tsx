import { VisuallyHidden } from './VisuallyHidden';
import styles from './Spinner.module.css';

/** Turns while something is really being tried, and says so in words. */
export function Spinner({ label }: { label: string }) {
  return (
    <span className={styles.spinner} role="status">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <circle cx="12" cy="12" r="9" pathLength="100" />
      </svg>
      <VisuallyHidden>{label}</VisuallyHidden>
    </span>
  );
}
