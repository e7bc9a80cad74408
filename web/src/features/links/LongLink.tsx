import styles from './LongLink.module.css';

/** What stands before a host: the scheme, and what only looks like a host. */
const BEFORE_HOST = /^[a-z][a-z\d+.-]*:[\\/]*(?:[^\\/?#]*@)?/i;

/** Where a link leads: its host comes first to the eye, and all of it is in the document. */
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
