import styles from './FieldError.module.css';

export interface FieldErrorProps {
  id: string;
  text: string | undefined;
  /** Number of the attempt. The same error of another attempt is announced again. */
  attempt?: number | undefined;
  /** Whether a toast or another element announces the error. It is then only shown here. */
  toasted?: boolean | undefined;
}

/**
 * The error of a field. It is in the document while empty, so that its text is announced when it
 * appears.
 */
export function FieldError({ id, text, attempt, toasted }: FieldErrorProps) {
  return (
    <p id={id} className={styles.error} role={toasted ? undefined : 'alert'}>
      {text && <span key={attempt}>{text}</span>}
    </p>
  );
}
