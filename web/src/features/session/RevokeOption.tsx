import { useId } from 'react';
import { Checkbox } from '../../components/Checkbox';
import { messages } from './messages';

interface RevokeOptionProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
}

/** Offers to revoke API keys and passkeys with a new password. */
export function RevokeOption({ checked, onChange }: RevokeOptionProps) {
  const id = useId();
  return (
    <div>
      <Checkbox
        name="revoke"
        label={messages.revoke}
        aria-describedby={id}
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
      />
      <p id={id}>{messages.revokeHint}</p>
    </div>
  );
}
