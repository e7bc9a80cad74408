/** `yourls.csv`: the columns of YOURLS' table of links, with times in UTC. */
import type { ExportedLink } from '../exported';
import { tableLine } from './csvTable';

export const yourlsHead = tableLine(['keyword', 'url', 'title', 'timestamp', 'ip', 'clicks']);

export function yourlsLine({ code, long_link, title, created_at, views }: ExportedLink): string {
  const timestamp = new Date(created_at).toISOString().slice(0, 19).replace('T', ' ');
  return tableLine([code, long_link, title, timestamp, '', views ?? 0]);
}
