import type { Statistics } from '../../api';
import { formatNumber } from '../../lib/format';
import styles from './Figures.module.css';
import { visitorsBefore, visitorsOf } from './visitors';
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
  const beside = (now: number, then: number | null) =>
    then === null ? '' : compare(now, then, spanBefore);
  return (
    <dl className={styles.figures}>
      <Figure
        name="People"
        value={totals.people}
        than={beside(totals.people, previous?.people ?? null)}
      />
      <Figure
        name="Daily visitors"
        value={visitorsOf(statistics)}
        than={
          countedFrom
            ? notCounted(countedFrom)
            : beside(totals.visitors, visitorsBefore(statistics, before))
        }
      />
      <Figure
        apart
        name="Bots, kept apart"
        value={totals.bots}
        than={beside(totals.bots, previous?.bots ?? null)}
      />
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
