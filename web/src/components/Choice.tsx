import { useId } from 'react';
import styles from './Choice.module.css';
import { VisuallyHidden } from './VisuallyHidden';

interface ChoiceProps<T extends string> {
  /** Name of the group, for screen readers only. */
  label: string;
  options: readonly { value: T; text: string }[];
  value: T;
  onChange: (value: T) => void;
}

/** Radio buttons for a few options: texts in a row, the chosen one underlined by a yellow bar. */
export function Choice<T extends string>({ label, options, value, onChange }: ChoiceProps<T>) {
  const name = useId();
  return (
    <fieldset className={styles.choice}>
      <legend>
        <VisuallyHidden>{label}</VisuallyHidden>
      </legend>
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            name={name}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>{option.text}</span>
        </label>
      ))}
    </fieldset>
  );
}
