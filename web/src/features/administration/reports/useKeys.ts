import { useEffect, useEffectEvent } from 'react';

/** Elements in which a key is a letter, or chooses something. */
const TYPING = 'input, textarea, select, [contenteditable], dialog';

/** Calls the action of a key, but not while the user types, or with Ctrl, Alt or Meta. */
export function useKeys(actions: Readonly<Record<string, () => void>>, enabled: boolean): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const { target, key } = event;
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    if (event.repeat || document.querySelector('dialog[open]')) return;
    if (target instanceof Element && target.closest(TYPING)) return;
    const action = actions[key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  });
  useEffect(() => {
    if (!enabled) return undefined;
    const listener = (event: KeyboardEvent) => onKey(event);
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, [enabled]);
}
