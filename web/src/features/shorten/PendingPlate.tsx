import { Spinner } from '../../components/Spinner';
import { useOnline } from '../../lib/online';
import styles from './SignPlate.module.css';

/** The place of the plate while its address is being made. */
export function PendingPlate({ url }: { url: string }) {
  const words = useOnline() ? 'Shortening' : 'Waiting for the connection';
  return (
    <div className={styles.plate}>
      <Spinner label={words} />
      <span className={styles.text}>
        <span className={styles.words} aria-hidden="true">
          {words}
        </span>
        <span className={styles.to} dir="auto">
          {url}
        </span>
      </span>
    </div>
  );
}
