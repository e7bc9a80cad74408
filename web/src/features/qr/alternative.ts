import { messages } from './messages';
import { wellFormed } from './symbol';

/** Maximum characters of the text in an accessible name. */
const MAX_CHARACTERS = 300;

/** Returns the accessible name of a code. Shortens a long text. */
export function alternative(text: string): string {
  if (text.length <= MAX_CHARACTERS) return messages.alternative(text);
  return messages.longAlternative(text.length, wellFormed(text.slice(0, MAX_CHARACTERS)));
}
