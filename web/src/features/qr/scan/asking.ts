/** Requests scan codes. Loaded only for a code of a short URL that may be the visitor's own. */
import { failureCode } from '../../../api';
import { askScanCode } from '../../../api/askScanCode';
import { scanUrl } from '../../../api/scanCodes';
import type { Owner } from '../../../lib/owner';

/**
 * Requests the scan URL of a link, with a domain, as each owner in turn; null if none of them owns
 * the link.
 */
export async function askAs(
  owners: readonly Owner[],
  code: string,
  domain: string,
): Promise<string | null> {
  for (const owner of owners) {
    try {
      return scanUrl(await askScanCode(owner, code), domain);
    } catch (error) {
      const problem = failureCode(error);
      const isTheirs = !['no-exist', 'no-logged', 'invalid-token'].includes(problem);
      if (isTheirs) throw error;
    }
  }
  return null;
}
