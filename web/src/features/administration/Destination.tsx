import { Button } from '../../components/Button';
import { copyWords, useCopy } from '../../components/useCopy';
import { readable } from '../../lib/hosts';
import styles from './Destination.module.css';
import { destination as texts } from './messages';

/** Returns the host of a destination, '' if it has none. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

/**
 * Where a link leads, as text. It is no link, so that nobody opens it by accident, and nothing is
 * fetched from it.
 */
export function Destination({ url }: { url: string }) {
  const [copied, copy] = useCopy();
  const host = hostOf(url);
  const shown = readable(host);
  return (
    <div className={styles.place}>
      <p className={styles.host} translate="no" dir="ltr">
        {host.split(/(?<=\.)/).map((label, index) => (
          <span key={index}>{label}</span>
        ))}
      </p>
      {shown !== null && (
        <p className={styles.quiet}>{texts.displayedAs(<bdi translate="no">{shown}</bdi>)}</p>
      )}
      <p className={styles.address} translate="no" dir="ltr">
        {url}
      </p>
      <div>
        <Button aria-label={texts.copyLabel} onClick={() => copy(url)}>
          {copied === 'idle' ? texts.copy : copyWords[copied]}
        </Button>
      </div>
    </div>
  );
}

/** An earlier destination, on one line. */
export function FormerDestination({ url }: { url: string }) {
  return (
    <span className={styles.address} translate="no" dir="ltr">
      {url}
    </span>
  );
}
