/** TinyURL: `GET /urls/available` and `/urls/archived`. Its CSV is not documented. */
import { pathOf } from '../../shortUrls';
import { flagOf, listOf, textOf } from '../fields';
import type { Service } from './service';

export const tinyurl: Service = {
  source: 'tinyurl',
  isEntry: (has) => has('tinyurl', 'url'),
  read: (field) => ({
    codes: [textOf(field('alias')) || pathOf(textOf(field('tinyurl')))],
    shortUrls: [textOf(field('tinyurl'))],
    destination: textOf(field('url')),
    title: textOf(field('description')),
    tags: listOf(field('tags'), ','),
    created: field('createdat'),
    expires: field('expiresat'),
    state: flagOf(field('deleted')) ? 'deleted' : flagOf(field('archived')) ? 'archived' : null,
  }),
};
