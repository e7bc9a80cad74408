import styles from './Bars.module.css';

/** Shapes of a chart as SVG path data. */
export interface Drawing {
  /** Bars of all steps except the highlighted one. */
  bars: string;
  /** Bar of the highlighted step. */
  looked: string;
  /** Line of the same steps of the previous period; empty if there is none. */
  before: string;
}

/** Renders the shapes of a chart in the SVG of a parent component. */
export function Bars({ drawing: { bars, looked, before } }: { drawing: Drawing }) {
  return (
    <>
      <path className={styles.bars} d={bars} />
      <path className={styles.looked} d={looked} />
      <path className={styles.before} d={before} />
    </>
  );
}
