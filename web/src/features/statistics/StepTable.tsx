import { formatNumber } from '../../lib/format';
import styles from './StepTable.module.css';
import type { Steps } from './steps';

interface StepTableProps {
  shown: Steps;
  label: string;
  /** 'the 30 days before'. */
  spanBefore: string;
}

/** What the chart shows, in figures. */
export function StepTable({ shown, label, spanBefore }: StepTableProps) {
  const { steps, length, distance } = shown;
  const hasVisitors = length !== 'hour';
  return (
    <table className={styles.table}>
      <caption>{label}</caption>
      <thead>
        <tr>
          <th scope="col">{words[length]}</th>
          <th scope="col">People</th>
          {hasVisitors && <th scope="col">Daily visitors</th>}
          <th scope="col">Bots</th>
          {distance !== null && <th scope="col">People in {spanBefore}</th>}
        </tr>
      </thead>
      <tbody>
        {steps.map((step) => (
          <tr key={step.start}>
            <th scope="row">{step.name}</th>
            <td>{formatNumber(step.people)}</td>
            {hasVisitors && <Figure value={step.visitors} />}
            <td>{formatNumber(step.bots)}</td>
            {distance !== null && <Figure value={step.before} />}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const words = { hour: 'Hour', day: 'Day', week: 'Week', month: 'Month' };

function Figure({ value }: { value: number | null }) {
  return <td>{value === null ? '–' : formatNumber(value)}</td>;
}
