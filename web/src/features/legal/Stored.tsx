import stored from './stored.json';
import styles from './Stored.module.css';

/**
 * What is stored, by plain words, with the names that it has in stores, journal and browser. A test
 * compares the names with what is really there.
 */
export function Stored({ of }: { of: keyof typeof stored }) {
  return (
    <ul>
      {stored[of].map(({ what, fields }) => (
        <li key={what}>
          {what}
          <span className={styles.fields}>{fields.join(', ')}</span>
        </li>
      ))}
    </ul>
  );
}
