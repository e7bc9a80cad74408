/** What an ending that somebody chose must be. The server decides; here it is told ahead of it. */
import { isCode, isReserved } from '../../lib/codes';

export type EndingProblem = 'letters' | 'length' | 'reserved';

/** Why no link can have this ending; null where one could, and for none at all. */
export function endingProblem(ending: string): EndingProblem | null {
  if (ending === '') return null;
  if (!/^[\w-]*$/.test(ending)) return 'letters';
  if (!isCode(ending)) return 'length';
  return isReserved(ending) ? 'reserved' : null;
}
