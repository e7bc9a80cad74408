import type { ReactNode } from 'react';
import styles from './Steps.module.css';

interface StepsProps {
  title: string;
  steps: { title: string; text: ReactNode }[];
  /** Whether they are numbered, because one follows the other. */
  numbered?: boolean;
}

/** A section with steps, or with alternatives. */
export function Steps({ title, steps, numbered = true }: StepsProps) {
  const List = numbered ? 'ol' : 'ul';
  return (
    <section className={styles.section}>
      <h2>{title}</h2>
      <List className={styles.steps}>
        {steps.map((step) => (
          <li key={step.title}>
            <h3>{step.title}</h3>
            <p>{step.text}</p>
          </li>
        ))}
      </List>
    </section>
  );
}
