/** chhoto: `GET /api/all`. */
import { trimSlashes } from '../../shortUrls';
import { textOf } from '../fields';
import type { Service } from './service';

export const chhoto: Service = {
  source: 'chhoto',
  isEntry: (has) => has('shortlink', 'longlink'),
  read: (field) => ({
    codes: [trimSlashes(textOf(field('shortlink')))],
    destination: textOf(field('longlink')),
    title: textOf(field('notes')),
    // 0 means that the link does not expire.
    expires: textOf(field('expirytime')) === '0' ? null : field('expirytime'),
  }),
};
