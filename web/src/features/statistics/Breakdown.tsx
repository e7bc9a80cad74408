import { useId, useState, type ReactNode } from 'react';
import { TextButton } from '../../components/TextButton';
import { VisuallyHidden } from '../../components/VisuallyHidden';
import { formatShare } from '../../lib/calendar';
import { formatNumber } from '../../lib/format';
import styles from './Breakdown.module.css';
import { messages } from './messages';

/** Number of rows shown before 'Show all'. */
const FIRST = 6;

interface BreakdownProps {
  title: string;
  /** Sorted by number, largest first. */
  rows: readonly { key: string; name: ReactNode; people: number }[];
  /** The number that is 100% of the shares. */
  whole: number;
}

/** People by one property. Each row has a bar behind its text, and its share. */
export function Breakdown({ title, rows, whole }: BreakdownProps) {
  const id = useId();
  const [all, setAll] = useState(false);
  const max = Math.max(1, ...rows.map(({ people }) => people));
  return (
    <section className={styles.breakdown} aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <ol>
        {rows.slice(0, all ? undefined : FIRST).map(({ key, name, people }) => (
          <li key={key}>
            <span
              className={styles.bar}
              style={{ inlineSize: `${(100 * people) / max}%` }}
              aria-hidden="true"
            />
            <span className={styles.name} dir="auto">
              {name}
            </span>{' '}
            <b>
              {formatNumber(people)} <VisuallyHidden>{messages.countPerson(people)}</VisuallyHidden>
            </b>{' '}
            <span className={styles.share}>{formatShare(people, whole)}</span>
          </li>
        ))}
      </ol>
      {rows.length > FIRST && (
        <TextButton aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? messages.showFewer : messages.showAll(rows.length)}{' '}
          <VisuallyHidden>{messages.of(title)}</VisuallyHidden>
        </TextButton>
      )}
    </section>
  );
}
