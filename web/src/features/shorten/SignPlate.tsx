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
  /** An earlier one: the same plate, read from nearer. */
  small?: boolean;
  /** What else its owner can do, where that has come. */
  actions?: ComponentType<{ result: Result }> | undefined;
}

/** A link that was made. The whole plate copies its address. */
export function SignPlate({ result, small = false, actions: Actions }: SignPlateProps) {
  const [copied, copy] = useCopy();
  if (result.removed) return Actions && <Actions result={result} />;
  const address = shortAddress(result.code);
  // The longer of the two lines the address may fall into; the type shrinks until it fits.
  const longest = Math.max(address.length - result.code.length - 1, result.code.length + 1);
  return (
    <div>
      <button
        type="button"
        className={[styles.plate, small && styles.small].filter(Boolean).join(' ')}
        style={{ '--longest': longest } as CSSProperties}
        onClick={() => copy(shortUrl(result.code))}
      >
        <Mark kind="level" size={small ? 'normal' : 'plate'} />
        <span className={styles.text}>
          <span className={styles.address}>
            <ShortAddress code={result.code} />
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
        <Link to={paths.qr} state={{ url: shortUrl(result.code) }}>
          {messages.makeQr}
        </Link>
        {Actions && <Actions result={result} />}
      </div>
    </div>
  );
}
