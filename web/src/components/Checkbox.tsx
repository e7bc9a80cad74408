import { useId, type ComponentProps, type ReactNode } from 'react';
import styles from './Checkbox.module.css';
import { VisuallyHidden } from './VisuallyHidden';

interface CheckboxProps extends Omit<ComponentProps<'input'>, 'className' | 'type'> {
  label: ReactNode;
  /** Hides the label visually, for a box beside the item that it selects. */
  labelHidden?: boolean;
  /** What the choice does, below the label. */
  hint?: ReactNode;
}

export function Checkbox({ label, labelHidden = false, hint, ...input }: CheckboxProps) {
  const hintId = useId();
  if (hint !== undefined) {
    return (
      <div>
        <Checkbox label={label} aria-describedby={hintId} {...input} />
        <p id={hintId} className={styles.hint}>
          {hint}
        </p>
      </div>
    );
  }
  return (
    <label className={styles.label}>
      <input {...input} type="checkbox" className={styles.box} />
      {labelHidden ? <VisuallyHidden>{label}</VisuallyHidden> : label}
    </label>
  );
}
