import { shortUrl } from './config';

/** The address that a link's QR symbols say: in capitals, of which QR makes smaller symbols. */
export function scanUrl(scanCode: string): string {
  return shortUrl(scanCode).toUpperCase();
}
