/** Verdicts that need no server: faults of a row by itself or together with earlier rows. */
import { isCode, isReserved } from '../../lib/codes';
import { webUrl } from '../../lib/urls';
import type { Row } from './parsed';

export type LocalVerdict = 'unreadable' | 'not http' | 'duplicate' | 'not a code' | 'reserved';

/** Determines the verdicts of the rows of one import, in their order. */
export class LocalVerdicts {
  readonly #seen = new Set<string>();

  /** Returns the verdict on a row, or null if the server has to decide. */
  of({ code, destination, unreadable }: Row): LocalVerdict | null {
    if (unreadable !== null) return 'unreadable';
    if (webUrl(destination) === null) return 'not http';
    // No ending contains a line break.
    const link = `${code ?? ''}\n${destination}`;
    if (this.#seen.has(link)) return 'duplicate';
    this.#seen.add(link);
    if (code === null) return null;
    if (!isCode(code)) return 'not a code';
    return isReserved(code) ? 'reserved' : null;
  }
}
