import styles from './FieldError.module.css';

export interface FieldErrorProps {
  id: string;
  text: string | undefined;
  /** Which try the error is of: the same error of another try is announced again. */
  attempt?: number | undefined;
  /** The error is announced by someone else, such as a toast, and only stays to be read here. */
  toasted?: boolean | undefined;
}

/** Stands there before it has a text, so that the text is announced when it comes. */
export function FieldError({ id, text, attempt, toasted }: FieldErrorProps) {
  return (
    <p id={id} className={styles.error} role={toasted ? undefined : 'alert'}>
      {text && <span key={attempt}>{text}</span>}
    </p>
  );
}
