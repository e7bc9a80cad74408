import type * as english from '../../../../features/claim/messages';
import { plural } from '../../../../lib/format';
import { counted } from '../../lib/counted';

const links = (count: number) => counted(count, 'enlace', 'enlaces');

export const messages: typeof english.messages = {
  label: 'Enlaces creados en este navegador',
  offer: (count) =>
    `${links(count)} de este navegador todavía no ${plural(count, 'está', 'están')} en tu cuenta.`,
  accept: 'Añadirlos a mi cuenta',
  decline: 'No, gracias',
  busy: 'Añadiendo los enlaces',
  done: (count) =>
    `${plural(count, 'Se ha añadido', 'Se han añadido')} ${links(count)} a tu cuenta.`,
  show: 'Mostrar enlaces',
  failed: 'Los enlaces no se han añadido a tu cuenta. Vuelve a intentarlo.',
};
