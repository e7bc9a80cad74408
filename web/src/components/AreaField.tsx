import { type ComponentProps, useId } from 'react';
import control from './control.module.css';
import { FieldError } from './FieldError';
import { Label } from './Label';
import styles from './AreaField.module.css';

type AreaFieldProps = Omit<ComponentProps<'textarea'>, 'className' | 'id'> & {
  label: string;
  error?: string | undefined;
  /** Ids of further elements that describe the field. */
  describedBy?: string;
};

/** A multi-line text field that grows with its text. */
export function AreaField({ label, error, describedBy, ...area }: AreaFieldProps) {
  const id = useId();
  return (
    <div>
      <Label htmlFor={id}>{label}</Label>
      <textarea
        rows={3}
        dir="auto"
        {...area}
        id={id}
        className={`${control.control} ${styles.area}`}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={
          [error && `${id}-error`, describedBy].filter(Boolean).join(' ') || undefined
        }
      />
      <FieldError id={`${id}-error`} text={error} />
    </div>
  );
}
