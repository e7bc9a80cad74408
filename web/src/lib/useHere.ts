import { useCallback, useEffect, useRef } from 'react';

/** Whether what asks is still on the page: an answer that comes later must not act for who left. */
export function useHere(): () => boolean {
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);
  return useCallback(() => here.current, []);
}
