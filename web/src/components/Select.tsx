import { useId, type ComponentProps } from 'react';
import control from './control.module.css';
import { FieldError, type FieldErrorProps } from './FieldError';
import { Label } from './Label';
import styles from './Select.module.css';

interface SelectProps<T extends string>
  extends
    Omit<ComponentProps<'select'>, 'className' | 'id' | 'value' | 'onChange'>,
    Pick<FieldErrorProps, 'attempt'> {
  label: string;
  options: readonly { value: T; text: string }[];
  value: T;
  onChange: (value: T) => void;
  error?: string | undefined;
}

/** A native drop-down list for many options. */
export function Select<T extends string>({
  label,
  options,
  onChange,
  error,
  attempt,
  ...select
}: SelectProps<T>) {
  const id = useId();
  return (
    <div>
      <Label htmlFor={id}>{label}</Label>
      <select
        {...select}
        id={id}
        className={`${control.control} ${styles.select}`}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={error && `${id}-error`}
        onChange={(event) => onChange(event.target.value as T)}
      >
        {options.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <FieldError id={`${id}-error`} text={error} attempt={attempt} />
    </div>
  );
}
