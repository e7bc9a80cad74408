/** Rules of custom endings. The server decides; the page gives feedback earlier. */
import { isCode, isReserved } from '../../lib/codes';

export type EndingProblem = 'letters' | 'length' | 'reserved';

/** Returns why no link can have this ending, or null if one can or the ending is empty. */
export function endingProblem(ending: string): EndingProblem | null {
  if (ending === '') return null;
  if (!/^[\w-]*$/.test(ending)) return 'letters';
  if (!isCode(ending)) return 'length';
  return isReserved(ending) ? 'reserved' : null;
}
