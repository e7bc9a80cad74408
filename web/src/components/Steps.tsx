import type { ReactNode } from 'react';
import styles from './Steps.module.css';

interface StepsProps {
  title: string;
  steps: { title: string; text: ReactNode }[];
}

/** A section with numbered steps. */
export function Steps({ title, steps }: StepsProps) {
  return (
    <section className={styles.section}>
      <h2>{title}</h2>
      <ol className={styles.steps}>
        {steps.map((step) => (
          <li key={step.title}>
            <h3>{step.title}</h3>
            <p>{step.text}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}
