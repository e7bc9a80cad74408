/** How the records of one service are recognized and read. */
import type { Source } from '../../parsed';
import type { Found } from '../../rows';
import type { Fields } from '../fields';

export type Has = (...names: string[]) => boolean;

export interface Service {
  source: Source;
  /** Whether a table with these normalized headers is from the service. */
  isTable?: (has: Has) => boolean;
  /** Whether a JSON object with these normalized keys is from the service. */
  isEntry?: (has: Has) => boolean;
  /** Returns null for the root of a domain, which is not a short URL. */
  read: (field: Fields) => Found | null;
}
