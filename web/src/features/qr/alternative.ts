import { messages } from './messages';
import { wellFormed } from './symbol';

/** Of a text this long a screen reader hears the beginning. */
const SPOKEN = 300;

/** What a code is called for those who do not see it. */
export function alternative(text: string): string {
  if (text.length <= SPOKEN) return messages.alternative(text);
  return messages.longAlternative(text.length, wellFormed(text.slice(0, SPOKEN)));
}
