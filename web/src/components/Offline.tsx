import { useOnline } from '../lib/online';
import { messages } from './messages';
import styles from './Offline.module.css';

/** A note that the page may be out of date, shown while the browser is offline. */
export function Offline() {
  const online = useOnline();
  return online ? null : (
    <p role="status" className={styles.note}>
      {messages.offline}
    </p>
  );
}
