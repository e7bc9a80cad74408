import type * as english from '../../../../features/session/passkeyMessages';

export const passkeys: typeof english.passkeys = {
  title: 'Claves de acceso',
  hint: 'Con una clave de acceso inicias sesión con la huella, la cara o el bloqueo de pantalla en lugar de la contraseña. Nadie puede adivinarla.',
  host: (host) =>
    `Solo funcionan en ${host}: si este sitio se muda a otro dominio, necesitarás la contraseña.`,
  list: 'Tus claves de acceso',
  loading: 'Cargando tus claves de acceso',
  loadFailed: 'No se han podido cargar tus claves de acceso.',
  none: 'Todavía no tienes claves de acceso.',
  full: (max) => `Tienes ${max} claves de acceso, el máximo. Elimina una para añadir otra.`,
  createdOn: (day) => `Añadida el ${day}`,
  lastUsed: (time) => `Último uso: ${time}`,
  neverUsed: 'Nunca se ha usado',
  remove: 'Eliminar',
  removeOf: (name) => `Eliminar ${name}`,
  removeQuestion: (name) => `¿Eliminar la clave de acceso «${name}»?`,
  removeWarning: 'Ya no podrás iniciar sesión con ella. Bórrala también en tu dispositivo.',
  last: 'Nadie podría iniciar sesión en esta cuenta. Pon primero una contraseña.',
  removed: (name) => `La clave de acceso «${name}» se ha eliminado.`,
};

export const adding: typeof english.adding = {
  add: 'Añadir una clave de acceso',
  name: 'Nombre',
  nameHint: 'Solo para ti, para distinguir tus claves de acceso.',
  unnamed: 'Clave de acceso',
  submit: 'Continuar',
  done: (name) => `La clave de acceso «${name}» se ha añadido.`,
  declined: 'No se ha añadido ninguna clave de acceso. Puedes volver a intentarlo.',
  exists: 'Este dispositivo ya tiene una clave de acceso para tu cuenta.',
  invalid: 'La clave de acceso no se ha podido verificar. Vuelve a intentarlo.',
};

export const passkeyLogin: typeof english.passkeyLogin = {
  button: 'Iniciar sesión con una clave de acceso',
  declined:
    'No se ha usado ninguna clave de acceso. Puedes volver a intentarlo o iniciar sesión con tu contraseña.',
  unknown: 'Esta clave de acceso se eliminó de tu cuenta. Inicia sesión con tu contraseña.',
  refused: 'La clave de acceso no se ha podido verificar. Vuelve a intentarlo.',
};
