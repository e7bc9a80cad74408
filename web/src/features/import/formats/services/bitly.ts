/** Bitly: the CSV export with current and older headers, and bitlinks of API v4. */
import { lastPartOf } from '../../shortUrls';
import { firstText, flagOf, listOf, textOf } from '../fields';
import type { Service } from './service';

export const bitly: Service = {
  source: 'bitly',
  isTable: (has) =>
    has('link', 'destinationurl') ||
    has('customlink', 'destinationurl') ||
    has('bitlink', 'longurl') ||
    has('custombitlink', 'longurl'),
  isEntry: (has) => has('link', 'longurl'),
  read: (field) => {
    const custom = [
      ...listOf(field('custombitlinks'), /[\s,;|]+/),
      ...listOf(field('customlink'), /[\s,;|]+/),
      ...listOf(field('custombitlink'), /[\s,;|]+/),
    ].filter((link) => link !== '');
    const links = custom.length > 0 ? custom : [firstText(field, 'link', 'bitlink', 'id')];
    const status = textOf(field('status')).toLowerCase();
    const isArchived = status === 'archived' || flagOf(field('archived'));
    return {
      codes: links.map(lastPartOf),
      shortUrls: links,
      destination: firstText(field, 'destinationurl', 'longurl'),
      title: textOf(field('title')),
      tags: listOf(field('tags'), /[,;|]/),
      created: field('datecreated') ?? field('createdat'),
      state: status === 'deleted' ? 'deleted' : isArchived ? 'archived' : null,
    };
  },
};
