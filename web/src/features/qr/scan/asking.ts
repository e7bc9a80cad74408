/** Asks for scan codes; it comes for those who make a code of a link of theirs. */
import { failureCode } from '../../../api';
import { askScanCode } from '../../../api/askScanCode';
import { scanUrl } from '../../../api/scanCodes';
import type { Owner } from '../../../lib/owner';

/** The address of a link's scan code, asked for as each owner; null where it is none of theirs. */
export async function askAs(owners: readonly Owner[], code: string): Promise<string | null> {
  for (const owner of owners) {
    try {
      return scanUrl(await askScanCode(owner, code));
    } catch (error) {
      const problem = failureCode(error);
      const isTheirs = !['no-exist', 'no-logged', 'invalid-token'].includes(problem);
      if (isTheirs) throw error;
    }
  }
  return null;
}
