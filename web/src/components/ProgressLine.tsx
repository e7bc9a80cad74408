import { useId } from 'react';
import styles from './ProgressLine.module.css';

interface ProgressLineProps {
  /** Progress in words. */
  text: string;
  done: number;
  total: number;
}

/** A progress bar with a label. */
export function ProgressLine({ text, done, total }: ProgressLineProps) {
  const id = useId();
  return (
    <p className={styles.line}>
      <label htmlFor={id}>{text}</label>
      <progress id={id} value={done} max={Math.max(total, 1)} />
    </p>
  );
}
