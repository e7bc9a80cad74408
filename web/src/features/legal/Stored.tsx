import { stored as texts } from './messages';
import stored from './stored.json';
import styles from './Stored.module.css';

/**
 * A list of stored data, each item with the names of its fields. Tests compare these names with the
 * fields in the databases, the journal and the browser.
 */
export function Stored({ of }: { of: keyof typeof stored }) {
  const items: Record<string, string> = texts[of];
  return (
    <ul>
      {stored[of].map(({ key, fields }) => (
        <li key={key}>
          {items[key]}
          <span className={styles.fields}>{fields.join(', ')}</span>
        </li>
      ))}
    </ul>
  );
}
