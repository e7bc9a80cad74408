import type { ReactNode } from 'react';
import { Button } from '../../components/Button';
import type { FormState } from '../../lib/useForm';
import styles from './Form.module.css';

interface PasswordFormProps {
  form: FormState<unknown>;
  submit: string;
  /** A button that closes the form without submitting it. */
  cancel?: ReactNode;
  children: ReactNode;
}

/** A form with a password: its fields, the text of a failure and the button that submits it. */
export function PasswordForm({ form, submit, cancel, children }: PasswordFormProps) {
  return (
    <form className={styles.form} onSubmit={form.onSubmit} noValidate>
      {children}
      <p className={styles.failed} role="alert">
        {form.failed}
      </p>
      <div className={styles.actions}>
        <Button type="submit" variant="primary" busy={form.busy}>
          {submit}
        </Button>
        {cancel}
      </div>
    </form>
  );
}
