import { useCallback, useEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** Texts with more characters take a while to draw, and wait for a pause in typing. */
const LONG_TEXT = 600;
const DEBOUNCE_MS = 150;

/** Debounces a long text; a short one is updated at once. `settle` ends the wait. */
export function useSettled(text: string): [string, () => void] {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), text.length > LONG_TEXT ? DEBOUNCE_MS : 0);
    return () => clearTimeout(timer);
  }, [text]);
  const settle = useCallback(() => flushSync(() => setSettled(text)), [text]);
  return [settled, settle];
}
