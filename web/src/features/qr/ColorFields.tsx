import { useCallback, useState } from 'react';
import { ColorPicker } from './ColorPicker';
import styles from './ColorFields.module.css';
import { messages } from './messages';
import type { Style } from './style';

type Picker = 'foreground' | 'background';

interface ColorFieldsProps {
  style: Style;
  change: (part: Partial<Style>) => void;
}

/** Fields for foreground and background color. At most one picker is open. */
export function ColorFields({ style, change }: ColorFieldsProps) {
  const [picker, setPicker] = useState<Picker | null>(null);
  const open = (which: Picker, isOpen: boolean) =>
    setPicker((current) => (isOpen ? which : current === which ? null : current));
  const setForegroundOpen = useCallback((isOpen: boolean) => open('foreground', isOpen), []);
  const setBackgroundOpen = useCallback((isOpen: boolean) => open('background', isOpen), []);

  return (
    <div className={styles.pair}>
      <ColorPicker
        label={messages.color}
        color={style.foreground}
        onColor={(foreground) => change({ foreground })}
        open={picker === 'foreground'}
        setOpen={setForegroundOpen}
      />
      <ColorPicker
        label={messages.backgroundColor}
        color={style.background}
        onColor={(background) => change({ background })}
        open={picker === 'background'}
        setOpen={setBackgroundOpen}
      />
    </div>
  );
}
