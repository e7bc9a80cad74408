import { useEffect, useRef, useState } from 'react';
import { announce } from '../lib/announce';
import { copyText } from '../lib/clipboard';
import { actions, messages } from './messages';

const SHOWN = 2_000;

type CopyState = 'idle' | 'copied' | 'refused';

export const copyWords: Record<CopyState, string> = {
  idle: actions.copy,
  copied: messages.copied,
  refused: messages.notCopied,
};

/**
 * Returns the result of the last copy for 2 seconds, and a function that copies. Announces each
 * result.
 */
export function useCopy(): [CopyState, (text: string) => void] {
  const [state, setState] = useState<CopyState>('idle');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  const copy = async (text: string) => {
    const next = (await copyText(text)) ? 'copied' : 'refused';
    announce(copyWords[next]);
    setState(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setState('idle'), SHOWN);
  };

  return [state, (text) => void copy(text)];
}
