import { useState } from 'react';
import { PasswordField } from './Field';
import { messages } from './lateMessages';
import { TextButton } from './TextButton';

interface CurrentPasswordProps {
  label: string;
  value: string;
  onValue: (value: string) => void;
  error: string | undefined;
  attempt: number;
  /** The provider that confirms the session of an account without a password, else undefined. */
  provider: string | undefined;
  /** Leaves for the provider. Resolves with the text of a failure. */
  onConfirm: () => Promise<string>;
}

/**
 * The field of the current password. An account without one is confirmed by its provider instead,
 * which a login has just done.
 */
export function CurrentPassword({
  label,
  value,
  onValue,
  error,
  attempt,
  provider,
  onConfirm,
}: CurrentPasswordProps) {
  const [failed, setFailed] = useState('');
  if (provider === undefined) {
    return (
      <PasswordField
        label={label}
        name="password"
        autoComplete="current-password"
        value={value}
        onChange={(event) => onValue(event.target.value)}
        error={error}
        attempt={attempt}
        aria-required
      />
    );
  }
  return (
    <>
      <p>
        {messages.noPassword(provider)}{' '}
        <TextButton onClick={() => void onConfirm().then(setFailed)}>
          {messages.confirm(provider)}
        </TextButton>
      </p>
      <p role="alert">{failed || error}</p>
    </>
  );
}
