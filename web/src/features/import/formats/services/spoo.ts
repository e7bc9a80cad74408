/** spoo.me: `GET /api/v1/urls`. */
import type { SourceState } from '../../parsed';
import { conditionsOf, flagOf, textOf } from '../fields';
import type { Service } from './service';

const STATES: Record<string, SourceState> = {
  inactive: 'disabled',
  blocked: 'disabled',
  expired: 'expired',
};

export const spoo: Service = {
  source: 'spoo',
  isEntry: (has) => has('alias', 'longurl'),
  read: (field) => ({
    codes: [textOf(field('alias'))],
    destination: textOf(field('longurl')),
    created: field('createdat'),
    expires: field('expireafter'),
    state: flagOf(field('passwordset')) ? 'secret' : STATES[textOf(field('status')).toLowerCase()],
    notes: conditionsOf(field('maxclicks')),
  }),
};
