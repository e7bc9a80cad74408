import type * as english from '../../../../features/redirect/messages';
import { blockReasons } from '../../blockReasons';

export const messages: typeof english.messages = {
  title: 'Redirigiendo...',
  description: 'Un enlace corto de camino a su destino.',
  slow: 'Ir a la página de inicio',
  expired: 'Este enlace ha caducado.',
  removed: 'Su propietario ha eliminado este enlace.',
  blocked: (reason) => `Este enlace se ha bloqueado: ${blockReasons[reason]}.`,
  blockedBy: 'Lo ha bloqueado el responsable de este sitio.',
  appeal: (contact) => <>Si crees que es un error, escribe a {contact}.</>,
  goHome: 'IR AL INICIO',
  showPreview: 'Mostrar la vista previa del enlace',
};
