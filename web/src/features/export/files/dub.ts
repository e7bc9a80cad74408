/** `dub.csv`: the columns of Dub's own export, and the title. Tags are separated by `, `. */
import type { ExportedLink } from '../exported';
import { tableLine } from './csvTable';

export const dubHead = tableLine([
  'Short link',
  'Destination URL',
  'Clicks',
  'Created at',
  'Tags',
  'Archived',
  'Title',
]);

export function dubLine(link: ExportedLink, origin: string): string {
  const { code, long_link, views, created_at, tags, title } = link;
  const url = link.short_url ?? `${origin}/${code}`;
  const list = tags.map((tag) => tag.replaceAll(',', ' ')).join(', ');
  return tableLine([url, long_link, views ?? 0, created_at, list, 'No', title]);
}
