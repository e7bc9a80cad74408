/** Scan code requests, in a module of their own because few visitors need them. */
import type { Owner } from '../lib/owner';
import { cache } from './cache';
import { createScanCode } from './functions';
import { keys } from './keys';

/** Returns the scan code of an owner's link. Creates one if the link has none. */
export function askScanCode(owner: Owner, code: string): Promise<string> {
  return cache.query({
    queryKey: keys.scanCode(owner, code),
    queryFn: ({ signal }) => createScanCode(owner, code, { signal }),
    staleTime: Infinity,
    // The caller shows the error.
    meta: { onFailure: () => undefined },
  });
}
