import { Bars } from '../../components/Bars';
import { plot } from './drawing';
import styles from './SmallBars.module.css';

const SIZE = { width: 120, height: 28 };

/** A bar chart on a baseline, without labels. The figures are shown beside it. */
export function SmallBars({ values }: { values: readonly number[] }) {
  return (
    <svg
      viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
      preserveAspectRatio="none"
      className={styles.bars}
      aria-hidden="true"
    >
      <Bars drawing={plot(values, [], SIZE).draw(null)} />
    </svg>
  );
}
