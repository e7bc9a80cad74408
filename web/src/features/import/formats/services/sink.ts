/** Sink: its JSON export. */
import { trimSlashes } from '../../shortUrls';
import { conditionsOf, firstText, listOf, textOf } from '../fields';
import type { Service } from './service';

export const sink: Service = {
  source: 'sink',
  isEntry: (has) => has('slug', 'url'),
  read: (field) => ({
    codes: [trimSlashes(textOf(field('slug')))],
    destination: textOf(field('url')),
    title: firstText(field, 'title', 'comment'),
    tags: listOf(field('tags'), ','),
    created: field('createdat'),
    expires: field('expiration'),
    state: textOf(field('password')) === '' ? null : 'secret',
    notes: conditionsOf(field('apple'), field('google'), field('geo'), field('cloaking')),
  }),
};
