import { useCallback, useEffect, useRef } from 'react';

/**
 * Returns a function that tells whether the component is mounted. A response that arrives later
 * must not act on behalf of a user who has left.
 */
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
