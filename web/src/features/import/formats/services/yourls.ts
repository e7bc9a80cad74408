/** YOURLS: its table, the table of the Import-Export plugin, and links of its API. */
import { lastPartOf, trimSlashes } from '../../shortUrls';
import { firstText, textOf } from '../fields';
import type { Service } from './service';

export const yourls: Service = {
  source: 'yourls',
  isTable: (has) => has('keyword', 'url') || has('source', 'target', 'hits'),
  isEntry: (has) => has('keyword', 'url') || has('shorturl', 'url', 'timestamp'),
  read: (field) => {
    const keyword = trimSlashes(firstText(field, 'keyword', 'source'));
    return {
      codes: [keyword || lastPartOf(textOf(field('shorturl')))],
      shortUrls: [textOf(field('shorturl'))],
      destination: firstText(field, 'url', 'target'),
      title: textOf(field('title')),
      // In the time zone of the server, which the file does not contain.
      created: field('timestamp'),
    };
  },
};
