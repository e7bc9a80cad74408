import { useEffectEvent, useLayoutEffect, type RefObject } from 'react';

/**
 * Takes over what was typed into a controlled field before the scripts. React keeps the text in the
 * document, but does not report it.
 */
export function useTyped(
  field: RefObject<HTMLInputElement | HTMLTextAreaElement | null>,
  value: string,
  onValue: (value: string) => void,
): void {
  const takeOver = useEffectEvent(() => {
    const typed = field.current?.value ?? '';
    if (typed !== value) onValue(typed);
  });
  // It must be known before early presses are repeated.
  useLayoutEffect(() => takeOver(), []);
}
