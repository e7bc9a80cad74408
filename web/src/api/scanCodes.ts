/** Scan codes of an owner's links in the query cache. Each is requested once. */
import type { Owner } from '../lib/owner';
import { shortUrl } from '../lib/config';
import type { Link } from '.';
import { cache } from './cache';
import { keys } from './keys';

/**
 * Returns the scan code of a link if it is known. A list may be older than a scan code created
 * here.
 */
export function knownScanCode(
  owner: Owner,
  { code, scan_code }: Pick<Link, 'code' | 'scan_code'>,
): string | undefined {
  return scan_code ?? cache.getQueryData<string>(keys.scanCode(owner, code));
}

/**
 * Returns the URL in a link's QR symbols. It is in upper case, which QR encodes in smaller symbols.
 */
export function scanUrl(scanCode: string, domain?: string): string {
  return shortUrl(scanCode, domain).toUpperCase();
}
