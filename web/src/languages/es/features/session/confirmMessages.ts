import type * as english from '../../../../features/session/confirmMessages';

export const confirmation: typeof english.confirmation = {
  title: 'Confirma que eres tú',
  why: 'Iniciaste sesión o lo confirmaste hace más de 15 minutos. Todavía no se ha cambiado nada.',
  submit: 'Confirmar',
  passkey: 'Confirmar con una clave de acceso',
  declined:
    'No se ha usado ninguna clave de acceso. Puedes volver a intentarlo o escribir tu contraseña.',
  wrongPasskey: 'Esta clave de acceso no es de tu cuenta.',
};
