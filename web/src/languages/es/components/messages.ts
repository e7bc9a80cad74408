import type * as english from '../../../components/messages';

export const actions: typeof english.actions = {
  cancel: 'Cancelar',
  copy: 'Copiar',
  remove: 'Eliminar',
  share: 'Compartir',
  showMore: 'Mostrar más',
  tryAgain: 'Volver a intentarlo',
  undo: 'Deshacer',
};

export const messages: typeof english.messages = {
  product: 'Atajo',
  wait: 'Espera, por favor',
  copied: 'Copiado',
  notCopied: 'No se ha copiado',
  accountFull:
    'Tu cuenta tiene 1.000.000 de enlaces, el máximo. Elimina algunos: dejarán sitio a los 30 días.',
  offline: 'No tienes conexión. Puede que esta página no esté al día.',
};
