/** The scan codes of an owner's links, in the cache: each is asked for once. */
import { queryOptions } from '@tanstack/react-query';
import type { Owner } from '../lib/owner';
import { createScanCode, type Link } from '.';
import { cache } from './cache';

function scanCodeOf(owner: Owner, code: string) {
  return queryOptions({
    queryKey: [owner, 'scan code', code] as const,
    queryFn: ({ signal }) => createScanCode(owner, code, { signal }),
    staleTime: Infinity,
    // Who asks for it says so.
    meta: { onFailure: () => undefined },
  });
}

/** The scan code of an owner's link; it is made where there is none. */
export function askScanCode(owner: Owner, code: string): Promise<string> {
  return cache.query(scanCodeOf(owner, code));
}

/** The scan code that a link is known to have. A list may be older than one that was made here. */
export function knownScanCode(
  owner: Owner,
  { code, scan_code }: Pick<Link, 'code' | 'scan_code'>,
): string | undefined {
  return scan_code ?? cache.getQueryData(scanCodeOf(owner, code).queryKey);
}
