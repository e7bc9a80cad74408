import { shortAddress } from '../lib/config';
import styles from './ShortAddress.module.css';

/** In mono; it may break before its slash, and elsewhere only where host or code has no room. */
export function ShortAddress({ code }: { code: string }) {
  const host = shortAddress('').slice(0, -1);
  return (
    <span className={styles.address} translate="no">
      <span>{host}</span>
      <wbr />
      <span>/{code}</span>
    </span>
  );
}
