import { useId, useRef } from 'react';
import control from '../../components/control.module.css';
import { Label } from '../../components/Label';
import { useTyped } from '../../lib/useTyped';
import { Room } from './Room';
import type { QrSymbol } from './symbol';
import styles from './TextField.module.css';

interface TextFieldProps {
  label: string;
  value: string;
  onValue: (value: string) => void;
  symbol: QrSymbol;
}

/** A field for the text of the code. It may have several lines, such as a vCard. */
export function TextField({ label, value, onValue, symbol }: TextFieldProps) {
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  useTyped(field, value, onValue);
  return (
    <div>
      <Label htmlFor={id}>{label}</Label>
      <textarea
        ref={field}
        id={id}
        rows={1}
        className={`${control.control} ${styles.input}`}
        inputMode="url"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        dir="auto"
        value={value}
        aria-describedby={`${id}-count`}
        aria-invalid={symbol.used > symbol.capacity || undefined}
        onChange={(event) => onValue(event.target.value)}
      />
      <Room id={`${id}-count`} symbol={symbol} />
    </div>
  );
}
