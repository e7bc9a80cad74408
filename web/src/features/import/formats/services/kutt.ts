/** Kutt: `GET /api/v2/links`. */
import { trimSlashes } from '../../shortUrls';
import { flagOf, textOf } from '../fields';
import type { Service } from './service';

export const kutt: Service = {
  source: 'kutt',
  isEntry: (has) => has('address', 'target'),
  read: (field) => ({
    codes: [trimSlashes(textOf(field('address')))],
    shortUrls: [textOf(field('link'))],
    destination: textOf(field('target')),
    title: textOf(field('description')),
    created: field('createdat'),
    expires: field('expirein'),
    state: flagOf(field('password')) ? 'secret' : flagOf(field('banned')) ? 'disabled' : null,
  }),
};
