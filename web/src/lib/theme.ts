import { readItem, removeItem, writeItem } from './storage';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const KEY = 'theme';
const listeners = new Set<() => void>();

export function currentTheme(): Theme {
  const stored = readItem(KEY);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') removeItem(KEY);
  else writeItem(KEY, theme);
  apply();
}

/** Applies the theme to the document, and its background color to the browser's own frame. */
export function apply(): void {
  const theme = currentTheme();
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  const ground = getComputedStyle(document.body).backgroundColor;
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    meta.dataset['system'] ??= meta.content;
    meta.content = theme === 'system' ? meta.dataset['system'] : ground;
  }
  for (const listener of listeners) listener();
}

function onStorage({ key }: StorageEvent): void {
  if (key === KEY || key === null) apply();
}

/** Calls `listener` when the theme changes. Returns a function that unsubscribes. */
export function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener('storage', onStorage);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener('storage', onStorage);
  };
}
