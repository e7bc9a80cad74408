/** Comes with what asks for a scan code, and brings its call along: few people do. */
import type { Owner } from '../lib/owner';
import { cache } from './cache';
import { createScanCode } from './functions';
import { keys } from './keys';

/** The scan code of an owner's link; it is made where there is none. */
export function askScanCode(owner: Owner, code: string): Promise<string> {
  return cache.query({
    queryKey: keys.scanCode(owner, code),
    queryFn: ({ signal }) => createScanCode(owner, code, { signal }),
    staleTime: Infinity,
    // Who asks for it says so.
    meta: { onFailure: () => undefined },
  });
}
