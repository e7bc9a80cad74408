/** Polr: its table `links`, as SQL or as delimited text. */
import { textOf } from '../fields';
import type { Service } from './service';

export const polr: Service = {
  source: 'polr',
  isTable: (has) => has('shorturl', 'longurl', 'secretkey'),
  read: (field) => {
    const isDisabled = !['', '0'].includes(textOf(field('isdisabled')));
    // A link with a secret key answers only at /code/key.
    const isSecret = !['', '0'].includes(textOf(field('secretkey')));
    return {
      codes: [textOf(field('shorturl'))],
      destination: textOf(field('longurl')),
      created: field('createdat'),
      state: isSecret ? 'secret' : isDisabled ? 'disabled' : null,
    };
  },
};
