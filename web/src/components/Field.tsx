import { useId, useState, type ComponentProps, type ReactNode } from 'react';
import control from './control.module.css';
import styles from './Field.module.css';
import { FieldError, type FieldErrorProps } from './FieldError';
import { Label } from './Label';
import { messages } from './lateMessages';
import { TextButton } from './TextButton';

type FieldProps = Omit<ComponentProps<'input'>, 'className' | 'id'> &
  Pick<FieldErrorProps, 'attempt' | 'toasted'> & {
    label: ReactNode;
    error?: string | undefined;
    /** Ids of further elements that describe the field. */
    describedBy?: string;
  };

export function Field({ label, error, attempt, toasted, describedBy, ...input }: FieldProps) {
  const id = useId();
  return (
    <div>
      <Label htmlFor={id}>{label}</Label>
      <Input id={id} error={error} describedBy={describedBy} {...input} />
      <FieldError id={`${id}-error`} text={error} attempt={attempt} toasted={toasted} />
    </div>
  );
}

/** A password field with a button that shows and hides the password. */
export function PasswordField({
  label,
  error,
  attempt,
  toasted,
  describedBy,
  ...input
}: FieldProps) {
  const id = useId();
  const [shown, setShown] = useState(false);
  return (
    <div>
      <Label htmlFor={id}>{label}</Label>
      <div className={styles.withToggle}>
        <Input
          id={id}
          error={error}
          describedBy={describedBy}
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          {...input}
          type={shown ? 'text' : 'password'}
        />
        <span className={styles.toggle}>
          <TextButton
            aria-controls={id}
            aria-label={shown ? messages.hidePassword : messages.showPassword}
            onClick={() => setShown(!shown)}
          >
            {shown ? messages.hide : messages.show}
          </TextButton>
        </span>
      </div>
      <FieldError id={`${id}-error`} text={error} attempt={attempt} toasted={toasted} />
    </div>
  );
}

function Input({
  id,
  error,
  describedBy,
  ...input
}: ComponentProps<'input'> & {
  id: string;
  error: string | undefined;
  describedBy: string | undefined;
}) {
  const described = [error && `${id}-error`, describedBy].filter(Boolean).join(' ');
  return (
    <input
      {...input}
      id={id}
      className={`${control.control} ${styles.input}`}
      aria-invalid={error !== undefined || input['aria-invalid'] || undefined}
      aria-describedby={described || undefined}
    />
  );
}
