import { formatNumber } from '../../lib/format';
import { messages } from './messages';
import styles from './StepTable.module.css';
import type { Steps } from './steps';

interface StepTableProps {
  shown: Steps;
  label: string;
  /** Name of the previous period: 'previous 30 days'. */
  previousName: string;
}

/** The figures of the chart as a table. */
export function StepTable({ shown, label, previousName }: StepTableProps) {
  const { steps, length, distance } = shown;
  const hasVisitors = length !== 'hour';
  return (
    <table className={styles.table}>
      <caption>{label}</caption>
      <thead>
        <tr>
          <th scope="col">{messages.steps[length]}</th>
          <th scope="col">{messages.people}</th>
          {hasVisitors && <th scope="col">{messages.dailyVisitors}</th>}
          <th scope="col">{messages.bots}</th>
          {distance !== null && <th scope="col">{messages.peopleIn(previousName)}</th>}
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

function Figure({ value }: { value: number | null }) {
  return <td>{value === null ? '–' : formatNumber(value)}</td>;
}
