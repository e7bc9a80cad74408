import type { ComponentProps, ReactNode } from 'react';
import styles from './Checkbox.module.css';
import { VisuallyHidden } from './VisuallyHidden';

interface CheckboxProps extends Omit<ComponentProps<'input'>, 'className' | 'type'> {
  label: ReactNode;
  /** The words are for a screen reader alone: what is chosen stands beside the box. */
  labelHidden?: boolean;
}

export function Checkbox({ label, labelHidden = false, ...input }: CheckboxProps) {
  return (
    <label className={styles.label}>
      <input {...input} type="checkbox" className={styles.box} />
      {labelHidden ? <VisuallyHidden>{label}</VisuallyHidden> : label}
    </label>
  );
}
