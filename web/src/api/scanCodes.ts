/** The scan codes of an owner's links, in the cache: each is asked for once. */
import type { Owner } from '../lib/owner';
import { shortUrl } from '../lib/config';
import type { Link } from '.';
import { cache } from './cache';
import { keys } from './keys';

/** The scan code that a link is known to have. A list may be older than one that was made here. */
export function knownScanCode(
  owner: Owner,
  { code, scan_code }: Pick<Link, 'code' | 'scan_code'>,
): string | undefined {
  return scan_code ?? cache.getQueryData<string>(keys.scanCode(owner, code));
}

/** The address that a link's QR symbols say: in capitals, of which QR makes smaller symbols. */
export function scanUrl(scanCode: string): string {
  return shortUrl(scanCode).toUpperCase();
}
