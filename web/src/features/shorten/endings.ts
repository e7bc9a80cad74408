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

/** Of an ending that somebody chooses; the first one to the letter. */
export const endingMessages: Record<EndingProblem | 'taken' | 'rule' | 'unknown', string> = {
  taken: 'This ending is taken.',
  reserved: 'This ending is reserved for pages of this site.',
  length: 'An ending has 4 to 32 characters.',
  letters: 'An ending has letters from A to Z, digits, - and _ only.',
  rule: '4 to 32 letters from A to Z, digits, - or _. Capital and small letters are different.',
  unknown: 'Whether it is free is not known just now.',
};
