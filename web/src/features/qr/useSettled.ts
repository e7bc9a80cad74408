import { useCallback, useEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** Texts longer than this take a while to draw, and wait for a pause in the typing. */
const LONG = 600;
const PAUSE = 150;

/** A value once it rests: a short text at once, a long one after a pause. `settle` waits no longer. */
export function useSettled(text: string): [string, () => void] {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), text.length > LONG ? PAUSE : 0);
    return () => clearTimeout(timer);
  }, [text]);
  const settle = useCallback(() => flushSync(() => setSettled(text)), [text]);
  return [settled, settle];
}
