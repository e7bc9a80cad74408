import styles from './Bars.module.css';

/** Shapes of a chart as paths of an SVG. */
export interface Drawing {
  /** What is counted, step by step. */
  bars: string;
  /** The one that is looked at. */
  looked: string;
  /** The same steps of a time before; empty where there is none. */
  before: string;
}

/** The shapes of a chart, for the SVG of a parent component. */
export function Bars({ drawing: { bars, looked, before } }: { drawing: Drawing }) {
  return (
    <>
      <path className={styles.bars} d={bars} />
      <path className={styles.looked} d={looked} />
      <path className={styles.before} d={before} />
    </>
  );
}
