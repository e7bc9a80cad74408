/** Dub: the current and the older CSV export, and links of its API. */
import { pathOf, trimSlashes } from '../../shortUrls';
import { conditionsOf, flagOf, listOf, textOf } from '../fields';
import type { Service } from './service';

/** The key of the link at the root of a domain. */
const ROOT = '_root';

export const dub: Service = {
  source: 'dub',
  isTable: (has) => has('shortlink', 'destinationurl') || has('key', 'url', 'domain'),
  isEntry: (has) => has('key', 'url', 'domain'),
  read: (field) => {
    const cell = (name: string) => textOf(field(name));
    const key = trimSlashes(cell('key')) || pathOf(cell('shortlink'));
    if (key === '' || key === ROOT) return null;
    return {
      codes: [key],
      shortUrls: [cell('shortlink')],
      destination: cell('destinationurl') || cell('url'),
      title: cell('title'),
      tags: listOf(field('tags'), ','),
      created: field('createdat'),
      expires: field('expiresat'),
      state: cell('password') ? 'secret' : flagOf(field('archived')) ? 'archived' : null,
      notes: conditionsOf(field('ios'), field('android'), field('geo'), field('rewrite')),
    };
  },
};
