import { useId } from 'react';
import { PasswordField } from '../../components/Field';
import { PasswordRules } from './PasswordRules';
import { isGoodPassword } from './rules';

interface NewPasswordFieldProps {
  label: string;
  name: string;
  value: string;
  onValue: (value: string) => void;
  /** Whether to highlight unmet rules, because the form was submitted with them. */
  insist: boolean;
}

/** The field of a new password, with its rules. */
export function NewPasswordField({ label, name, value, onValue, insist }: NewPasswordFieldProps) {
  const rulesId = useId();
  return (
    <>
      <PasswordField
        label={label}
        name={name}
        autoComplete="new-password"
        value={value}
        onChange={(event) => onValue(event.target.value)}
        aria-invalid={(insist && !isGoodPassword(value)) || undefined}
        describedBy={rulesId}
        aria-required
      />
      <PasswordRules id={rulesId} password={value} insist={insist} />
    </>
  );
}
