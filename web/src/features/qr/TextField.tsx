import { useId } from 'react';
import control from '../../components/control.module.css';
import { Label } from '../../components/Label';
import { formatNumber } from '../../lib/format';
import type { QrSymbol } from './symbol';
import styles from './TextField.module.css';

/** From this share of the room on, the count is shown. */
const NEAR = 0.8;

interface TextFieldProps {
  label: string;
  value: string;
  onValue: (value: string) => void;
  symbol: QrSymbol;
}

/** A code holds text of any kind, lines of a visiting card too. */
export function TextField({ label, value, onValue, symbol }: TextFieldProps) {
  const id = useId();
  const { used, capacity, unit } = symbol;
  return (
    <div>
      <Label htmlFor={id}>{label}</Label>
      <textarea
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
        aria-invalid={used > capacity || undefined}
        onChange={(event) => onValue(event.target.value)}
      />
      <p id={`${id}-count`} className={styles.count}>
        {used > capacity * NEAR &&
          `${formatNumber(used)} of ${formatNumber(capacity)} ${unit} used`}
      </p>
    </div>
  );
}
