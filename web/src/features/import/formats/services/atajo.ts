/** Atajo: 'Download my links' as CSV and JSON. */
import { splitList, undoFormulas } from '../../../../lib/csv';
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
    // Only table cells have a ' before formulas, and lists as one text.
    const isTable = typeof field('tags') === 'string';
    const cell = (name: string) => {
      const text = textOf(field(name));
      return isTable ? undoFormulas(text) : text;
    };
    return {
      codes: [cell('code')],
      shortUrls: [cell('shorturl')],
      destination: cell('longlink'),
      title: cell('title'),
      tags: isTable ? splitList(cell('tags')) : listOf(field('tags'), ';'),
      created: field('createdat'),
      expires: field('expiresat'),
      state: STATES[cell('state')] ?? null,
      notes: cell('endedurl') === '' ? [] : ['ended-url-dropped'],
    };
  },
};
