import { useState, type SubmitEvent } from 'react';
import type { Dates } from '../../api';
import { Button } from '../../components/Button';
import { Field } from '../../components/Field';
import styles from './DatesForm.module.css';
import { messages } from './messages';
import { problemOf } from './spans';

interface DatesFormProps {
  /** Initial values of the fields. */
  initial: Dates;
  onChoose: (dates: Dates) => void;
}

/** A form for a custom period, from one day to another. */
export function DatesForm({ initial, onChoose }: DatesFormProps) {
  const [dates, setDates] = useState(initial);
  const [problem, setProblem] = useState<{ text: string; attempt: number }>();

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const text = problemOf(dates);
    if (text === undefined) onChoose(dates);
    setProblem((known) =>
      text === undefined ? undefined : { text, attempt: (known?.attempt ?? 0) + 1 },
    );
  };
  const field = (name: keyof Dates, label: string) => ({
    label,
    type: 'date',
    value: dates[name],
    onChange: ({ target }: { target: HTMLInputElement }) =>
      setDates({ ...dates, [name]: target.value }),
  });

  return (
    <form className={styles.form} noValidate onSubmit={onSubmit}>
      <Field
        {...field('from', messages.firstDay)}
        error={problem?.text}
        attempt={problem?.attempt}
      />
      <Field {...field('to', messages.lastDay)} aria-invalid={problem && true} />
      <div className={styles.action}>
        <Button type="submit">{messages.showDates}</Button>
      </div>
    </form>
  );
}
