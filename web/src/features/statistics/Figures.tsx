import type { Statistics } from '../../api';
import { formatNumber } from '../../lib/format';
import styles from './Figures.module.css';
import { compare, notCounted } from './words';

interface FiguresProps {
  statistics: Statistics;
  before: Statistics | undefined;
  /** 'the 30 days before'. */
  spanBefore: string;
}

/** The three figures of a span, each beside that of the span before. */
export function Figures({ statistics, before, spanBefore }: FiguresProps) {
  const { totals, previous, counted_from: countedFrom } = statistics;
  const than = (figure: 'people' | 'bots' | 'visitors') =>
    previous === null ? '' : compare(totals[figure], previous[figure], spanBefore);
  // What was not counted whole is nothing to compare with.
  const isKnownBefore = before !== undefined && before.counted_from === undefined;
  return (
    <dl className={styles.figures}>
      <Figure name="People" value={totals.people} than={than('people')} />
      <Figure
        name="Daily visitors"
        value={countedFrom !== undefined && totals.visitors === 0 ? null : totals.visitors}
        than={countedFrom ? notCounted(countedFrom) : isKnownBefore ? than('visitors') : ''}
      />
      <Figure apart name="Bots, kept apart" value={totals.bots} than={than('bots')} />
    </dl>
  );
}

interface FigureProps {
  name: string;
  /** null where it is not known. */
  value: number | null;
  than: string;
  /** It is beside what the page is about. */
  apart?: boolean;
}

function Figure({ name, value, than, apart = false }: FigureProps) {
  return (
    <div className={`${styles.figure} ${apart ? styles.apart : ''}`}>
      <dt>{name}</dt>
      <dd>{value === null ? '–' : formatNumber(value)}</dd>
      {than !== '' && <dd className={styles.than}>{than}</dd>}
    </div>
  );
}
