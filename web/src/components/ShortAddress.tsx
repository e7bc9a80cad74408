import { shortAddress } from '../lib/config';
import styles from './ShortAddress.module.css';

/**
 * A short URL without scheme, in the monospace font. It breaks before its slash, and elsewhere only
 * if the host or the code does not fit.
 */
export function ShortAddress({ code, domain }: { code: string; domain?: string | undefined }) {
  const host = shortAddress('', domain).slice(0, -1);
  return (
    <span className={styles.address} translate="no">
      <span>{host}</span>
      <wbr />
      <span>/{code}</span>
    </span>
  );
}
