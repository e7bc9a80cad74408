/** `shlink.csv`: the table that Shlink's importer documents. Tags are separated by `|`. */
import type { ExportedLink } from '../exported';
import { tableLine } from './csvTable';

export const shlinkHead = tableLine(['Long URL', 'Short code', 'Title', 'Tags']);

export function shlinkLine({ long_link, code, title, tags }: ExportedLink): string {
  return tableLine([long_link, code, title, tags.map((tag) => tag.replaceAll('|', '/')).join('|')]);
}
