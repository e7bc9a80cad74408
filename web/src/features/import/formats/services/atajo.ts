/** Atajo: 'Download my links' as CSV and JSON. */
import { splitList } from '../../../../lib/csv';
import type { SourceState } from '../../parsed';
import { listOf, textOf } from '../fields';
import type { Service } from './service';

const STATES: Record<string, SourceState> = {
  expired: 'expired',
  removed: 'deleted',
  blocked: 'disabled',
};

export const atajo: Service = {
  source: 'atajo',
  isTable: (has) => has('code', 'longlink', 'shortlink'),
  isEntry: (has) => has('code', 'longlink'),
  read: (field) => {
    // Table cells have lists as one text.
    const isTable = typeof field('tags') === 'string';
    const cell = (name: string) => textOf(field(name));
    return {
      codes: [cell('code')],
      shortUrls: [cell('shorturl')],
      destination: cell('longlink'),
      title: cell('title'),
      tags: isTable ? splitList(cell('tags')) : listOf(field('tags'), ';'),
      created: field('createdat'),
      expires: field('expiresat'),
      ...(cell('domain') !== '' && { domain: cell('domain') }),
      state: STATES[cell('state')] ?? null,
      notes: cell('endedurl') === '' ? [] : ['ended-url-dropped'],
    };
  },
};
