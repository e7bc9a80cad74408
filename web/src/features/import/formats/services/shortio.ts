/** Short.io: the CSV export by its field names and by its labels, and `GET /api/links`. */
import { pathOf, trimSlashes } from '../../shortUrls';
import { conditionsOf, flagOf, listOf, textOf, type Fields } from '../fields';
import type { Service } from './service';

export const shortio: Service = {
  source: 'shortio',
  // Other services, too, have only `Original URL` and `Short URL`.
  isTable: (has) =>
    has('originalurl', 'originalpath') ||
    has('originalurls', 'originalpaths') ||
    has('originalurls', 'shorturls') ||
    has('originalurl', 'shorturl', 'idstring'),
  isEntry: (has) => has('originalurl', 'path') || has('originalurl', 'shorturl', 'idstring'),
  read: (given) => {
    /** Some labels are plurals. */
    const field: Fields = (name) => given(name) ?? given(`${name}s`);
    const path = textOf(field('originalpath')) || textOf(field('path'));
    const code = trimSlashes(path) || pathOf(textOf(field('shorturl')));
    if (code === '') return null;
    const isSecret = flagOf(field('haspassword')) || textOf(field('password')) !== '';
    return {
      codes: [code],
      shortUrls: [textOf(field('shorturl'))],
      destination: textOf(field('originalurl')),
      title: textOf(field('title')),
      tags: listOf(field('tag'), /[,;|]/),
      created: field('createdat'),
      expires: field('expiresat'),
      state: isSecret ? 'secret' : flagOf(field('archived')) ? 'archived' : null,
      notes: conditionsOf(
        ...['iphoneurl', 'androidurl', 'spliturl', 'clickslimit', 'cloaking'].map(field),
      ),
    };
  },
};
