/** tiny.cc: its CSV export with semicolons. */
import { textOf } from '../fields';
import type { Service } from './service';

export const tinycc: Service = {
  source: 'tinycc',
  isTable: (has) => has('url', 'shortid'),
  read: (field) => ({
    codes: [textOf(field('shortid'))],
    destination: textOf(field('url')),
    title: textOf(field('note')),
  }),
};
