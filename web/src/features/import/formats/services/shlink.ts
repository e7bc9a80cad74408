/** Shlink: the export of its web client, the table of its importer, and its REST API. */
import { trimSlashes } from '../../shortUrls';
import { conditionsOf, isObject, listOf, textOf } from '../fields';
import type { Service } from './service';

export const shlink: Service = {
  source: 'shlink',
  isTable: (has) => has('shortcode', 'longurl'),
  isEntry: (has) => has('shortcode', 'longurl'),
  read: (field) => {
    const given = field('meta');
    const meta = isObject(given) ? given : {};
    // The web client separates tags only by |, so a tag can contain a comma.
    const isWebClient = field('createdat') !== undefined;
    return {
      codes: [trimSlashes(textOf(field('shortcode')))],
      shortUrls: [textOf(field('shorturl'))],
      destination: textOf(field('longurl')),
      title: textOf(field('title')),
      tags: listOf(field('tags'), isWebClient ? '|' : /[|,]/),
      created: field('datecreated') ?? field('createdat'),
      expires: meta['validUntil'],
      notes: conditionsOf(meta['maxVisits'], meta['validSince'], field('hasredirectrules')),
    };
  },
};
