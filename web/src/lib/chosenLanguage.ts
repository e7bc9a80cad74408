import { readItem, removeItem, writeItem } from './storage';

/** The choice without a language of its own: the one that the browser asks for. */
export const SYSTEM = 'system';

const KEY = 'language';

/** Returns the tag of the chosen language, or SYSTEM. */
export function chosenLanguage(): string {
  return readItem(KEY) ?? SYSTEM;
}

/** Stores the choice and loads the document in that language (boot.js). */
export function chooseLanguage(tag: string): void {
  if (tag === SYSTEM) removeItem(KEY);
  else writeItem(KEY, tag);
  location.reload();
}
