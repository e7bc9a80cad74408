import type { ComponentProps, ReactNode } from 'react';
import styles from './Checkbox.module.css';
import { VisuallyHidden } from './VisuallyHidden';

interface CheckboxProps extends Omit<ComponentProps<'input'>, 'className' | 'type'> {
  label: ReactNode;
  /** Hides the label visually, for a box beside the item that it selects. */
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
