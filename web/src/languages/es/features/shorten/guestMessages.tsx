import type * as english from '../../../../features/shorten/guestMessages';
import { plural } from '../../../../lib/format';

export const messages: typeof english.messages = {
  heading: 'Creados en este navegador',
  loading: 'Cargando tus enlaces anteriores',
  loadFailed: 'Tus enlaces anteriores no se han cargado.',
  clickToCopy: 'Clic para copiar',
  qr: 'QR',
  statistics: 'Estadísticas',
  views: (count) => plural(count, 'visita', 'visitas'),
  viewsOf: (url) => `de ${url}`,
  viewsUnknownOf: (url) => `desconocidas de ${url}`,
  wasRemoved: (url) => <>{url} se ha eliminado.</>,
  removed: (url) => `${url} se ha eliminado`,
  restored: (url) => `${url} se ha recuperado`,
  failed: {
    remove: 'El enlace no se ha eliminado. Vuelve a intentarlo.',
    restore: 'El enlace no se ha recuperado. Vuelve a intentarlo.',
    gone: 'Este enlace ya no existe.',
  },
  states: { expired: 'Caducado', removed: 'Eliminado', blocked: 'Bloqueado' },
};
