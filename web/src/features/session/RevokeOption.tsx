import { Checkbox } from '../../components/Checkbox';
import { messages } from './messages';

interface RevokeOptionProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
}

/** Offers to revoke API keys and passkeys with a new password. */
export function RevokeOption({ checked, onChange }: RevokeOptionProps) {
  return (
    <Checkbox
      name="revoke"
      label={messages.revoke}
      hint={messages.revokeHint}
      checked={checked}
      onChange={(event) => onChange(event.target.checked)}
    />
  );
}
