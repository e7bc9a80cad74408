import { messages } from './messages';
import styles from './Room.module.css';
import type { QrSymbol } from './symbol';

/** From this share of the room on, the count is shown. */
const NEAR = 0.8;

/** How much of a code's room a text takes, where that is near its end. */
export function Room({ id, symbol }: { id?: string; symbol: QrSymbol }) {
  const { used, capacity, unit } = symbol;
  return (
    <p id={id} className={styles.room}>
      {used > capacity * NEAR && messages.used(used, capacity, unit)}
    </p>
  );
}
