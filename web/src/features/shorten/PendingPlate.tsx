import { Spinner } from '../../components/Spinner';
import styles from './SignPlate.module.css';

/** The place of the plate while its address is being made. */
export function PendingPlate({ url }: { url: string }) {
  return (
    <div className={styles.plate}>
      <Spinner label="Shortening" />
      <span className={styles.text}>
        <span className={styles.words} aria-hidden="true">
          Shortening
        </span>
        <span className={styles.to} dir="auto">
          {url}
        </span>
      </span>
    </div>
  );
}
