import type { ReactNode } from 'react';
import { Choice } from '../../../components/Choice';
import styles from './NamedChoice.module.css';

interface NamedChoiceProps<T extends string> {
  label: string;
  options: readonly { value: T; text: string }[];
  value: T;
  onChange: (value: T) => void;
  children?: ReactNode;
}

/** A choice with a visible label, and the controls that belong to it. */
export function NamedChoice<T extends string>({ children, ...choice }: NamedChoiceProps<T>) {
  return (
    <div className={styles.named}>
      {/* Screen readers get the label from the choice itself. */}
      <span className={styles.name} aria-hidden="true">
        {choice.label}
      </span>
      <Choice {...choice} />
      {children}
    </div>
  );
}
