import type { Statistics } from '../../api';
import { formatNumber } from '../../lib/format';
import styles from './Figures.module.css';
import { messages } from './messages';
import { compare } from './names';

interface FiguresProps {
  statistics: Statistics;
  /** Name of the previous period: 'previous 30 days'. */
  previousName: string;
}

/** The three figures of a period, each compared with the previous period. */
export function Figures({ statistics, previousName }: FiguresProps) {
  const { totals, previous } = statistics;
  const beside = (now: number, then: number | undefined) =>
    then === undefined ? '' : compare(now, then, previousName);
  return (
    <dl className={styles.figures}>
      <Figure
        name={messages.people}
        value={totals.people}
        than={beside(totals.people, previous?.people)}
      />
      <Figure
        name={messages.dailyVisitors}
        value={totals.visitors}
        than={beside(totals.visitors, previous?.visitors)}
      />
      <Figure
        apart
        name={messages.botsApart}
        value={totals.bots}
        than={beside(totals.bots, previous?.bots)}
      />
    </dl>
  );
}

interface FigureProps {
  name: string;
  value: number;
  than: string;
  /** Whether the figure is shown apart from the others. */
  apart?: boolean;
}

function Figure({ name, value, than, apart = false }: FigureProps) {
  return (
    <div className={`${styles.figure} ${apart ? styles.apart : ''}`}>
      <dt>{name}</dt>
      <dd>{formatNumber(value)}</dd>
      {than !== '' && <dd className={styles.than}>{than}</dd>}
    </div>
  );
}
