import { messages } from './messages';
import styles from './Room.module.css';
import type { QrSymbol } from './symbol';

/** Share of the capacity above which the count is shown. */
const SHOWN_ABOVE = 0.8;

/** Shows how much of the capacity a text uses, once that is nearly all. */
export function Room({ id, symbol }: { id?: string; symbol: QrSymbol }) {
  const { used, capacity, unit } = symbol;
  return (
    <p id={id} className={styles.room}>
      {used > capacity * SHOWN_ABOVE && messages.used(used, capacity, unit)}
    </p>
  );
}
