import styles from './LongLink.module.css';

/** The part before the host: the scheme, and user info that only looks like a host. */
const BEFORE_HOST = /^[a-z][a-z\d+.-]*:[\\/]*(?:[^\\/?#]*@)?/i;

/** A destination. It is shown from its host on; the document contains all of it. */
export function LongLink({ url }: { url: string }) {
  const [before = ''] = BEFORE_HOST.exec(url) ?? [];
  return (
    <span className={styles.place}>
      <a className={styles.link} href={url} target="_blank" rel="noopener noreferrer" dir="auto">
        <span className={styles.before}>{before}</span>
        {url.slice(before.length)}
      </a>
    </span>
  );
}
