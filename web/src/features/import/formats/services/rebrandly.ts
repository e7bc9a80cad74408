/** Rebrandly: links of its API, and the tables of third-party recipes. */
import { pathOf, trimSlashes } from '../../shortUrls';
import { listOf, textOf } from '../fields';
import type { Service } from './service';

export const rebrandly: Service = {
  source: 'rebrandly',
  isTable: (has) => has('slashtag', 'destination'),
  isEntry: (has) => has('slashtag', 'destination'),
  read: (field) => ({
    codes: [trimSlashes(textOf(field('slashtag'))) || pathOf(textOf(field('shorturl')))],
    shortUrls: [textOf(field('shorturl'))],
    destination: textOf(field('destination')),
    title: textOf(field('title')),
    tags: listOf(field('tags'), /[,;|]/),
    created: field('createdat'),
    state: textOf(field('status')).toLowerCase() === 'trashed' ? 'deleted' : null,
  }),
};
