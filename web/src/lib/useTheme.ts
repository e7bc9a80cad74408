import { useSyncExternalStore } from 'react';
import { currentTheme, subscribe, type Theme } from './theme';

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, currentTheme, () => 'system');
}
