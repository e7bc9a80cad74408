import { useEffect, useState } from 'react';
import { copyText } from '../lib/clipboard';

const SHOWN = 2_000;

export type CopyState = 'idle' | 'copied' | 'refused';

export const copyWords: Record<CopyState, string> = {
  idle: 'Copy',
  copied: 'Copied',
  refused: 'Not copied',
};

/** What the last copy came to, for as long as it is worth saying. */
export function useCopy(): [CopyState, (text: string) => void] {
  const [state, setState] = useState<CopyState>('idle');

  useEffect(() => {
    if (state === 'idle') return undefined;
    const timer = setTimeout(() => setState('idle'), SHOWN);
    return () => clearTimeout(timer);
  }, [state]);

  return [
    state,
    (text) => {
      void copyText(text).then((copied) => setState(copied ? 'copied' : 'refused'));
    },
  ];
}
