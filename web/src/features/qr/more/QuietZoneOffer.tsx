import { TextButton } from '../../../components/TextButton';
import { fixes } from '../messages';
import { marginOf, type Style } from '../style';
import { messages } from './messages';
import styles from './MoreOptions.module.css';

interface QuietZoneOfferProps {
  style: Style;
  onStyle: (style: Style) => void;
}

/** Offers the quiet zone for files whose surroundings are unknown, while the style has none. */
export function QuietZoneOffer({ style, onStyle }: QuietZoneOfferProps) {
  if (marginOf(style) > 0) return null;
  return (
    <div>
      <p className={styles.hint}>{messages.quietZoneHint}</p>
      <TextButton variant="primary" onClick={() => onStyle({ ...style, quietZone: true })}>
        {fixes.quietZone}
      </TextButton>
    </div>
  );
}
