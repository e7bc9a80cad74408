import type { ComponentType, CSSProperties } from 'react';
import { Link } from 'react-router-dom';
import { Mark } from '../../components/Mark';
import { ShortAddress } from '../../components/ShortAddress';
import { copyWords, useCopy } from '../../components/useCopy';
import { shortAddress, shortUrl } from '../../lib/config';
import { paths } from '../../lib/paths';
import { messages } from './messages';
import type { Result } from './ResultsProvider';
import styles from './SignPlate.module.css';

interface SignPlateProps {
  result: Result;
  /** Whether to draw the plate small, for an earlier link. */
  small?: boolean;
  /** Further actions of the owner, once they have loaded. */
  actions?: ComponentType<{ result: Result }> | undefined;
}

/** A created link. The whole plate is a button that copies its short URL. */
export function SignPlate({ result, small = false, actions: Actions }: SignPlateProps) {
  const [copied, copy] = useCopy();
  if (result.removed) return Actions && <Actions result={result} />;
  const address = shortAddress(result.code, result.domain);
  // Length of the longer line if the URL breaks into two. The font shrinks until it fits.
  const longest = Math.max(address.length - result.code.length - 1, result.code.length + 1);
  return (
    <div>
      <button
        type="button"
        className={[styles.plate, small && styles.small].filter(Boolean).join(' ')}
        style={{ '--longest': longest } as CSSProperties}
        onClick={() => copy(shortUrl(result.code, result.domain))}
      >
        <Mark kind="level" size={small ? 'normal' : 'plate'} />
        <span className={styles.text}>
          <span className={styles.address}>
            <ShortAddress code={result.code} domain={result.domain} />
          </span>{' '}
          <span className={styles.to} dir="auto">
            {result.url}
          </span>
        </span>{' '}
        <span className={styles.copy} data-state={copied}>
          {copyWords[copied]}
        </span>
      </button>
      <div className={styles.beside}>
        <Link to={paths.qr} state={{ url: shortUrl(result.code, result.domain) }}>
          {messages.makeQr}
        </Link>
        {Actions && <Actions result={result} />}
      </div>
    </div>
  );
}
