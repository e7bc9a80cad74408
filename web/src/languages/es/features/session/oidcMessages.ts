import type * as english from '../../../../features/session/oidcMessages';

export const oidc: typeof english.oidc = {
  button: (name) => `Continuar con ${name}`,
  unavailable: (name) =>
    `${name} no responde en este momento. Vuelve a intentarlo más tarde o inicia sesión de otra forma.`,
  off: (name) => `El inicio de sesión con ${name} está desactivado.`,
};

export const callback: typeof english.callback = {
  title: 'Iniciando sesión',
  description: 'El final de un inicio de sesión con otro proveedor.',
  heading: (name) => `Iniciar sesión con ${name}`,
  waiting: 'Iniciando sesión',
  confirmed: 'Tu inicio de sesión se ha confirmado.',
  declined: (name) => `No has iniciado sesión con ${name}: se ha cancelado o se ha rechazado.`,
  refused:
    'Este inicio de sesión no puede completarse: es demasiado antiguo o empezó en otro navegador o pestaña.',
  unverified: (name) =>
    `${name} no conoce ningún correo electrónico tuyo verificado. Verifícalo allí y vuelve a intentarlo.`,
  exist: (name) =>
    `Ya hay una cuenta con tu correo electrónico, que ${name} no puede abrir. Inicia sesión en ella de otra forma.`,
  again: 'Ir al inicio de sesión',
  link: (email, name) =>
    `Ya hay una cuenta con el correo electrónico ${email}. Introduce su contraseña una vez, y desde entonces podrás iniciar sesión también con ${name}.`,
  connect: 'Conectar e iniciar sesión',
};

export const connections: typeof english.connections = {
  title: (name) => `Inicio de sesión con ${name}`,
  hint: (name) =>
    `Cerrar la sesión aquí la cierra solo aquí: en ${name} sigues con la sesión iniciada.`,
  list: 'Tus conexiones',
  loading: 'Cargando tus conexiones',
  loadFailed: 'No se han podido cargar tus conexiones.',
  none: (name) =>
    `Tu cuenta no está conectada. Para conectarla, inicia sesión con ${name} una vez, con el mismo correo electrónico.`,
  createdOn: (day) => `Conectada el ${day}`,
  lastUsed: (time) => `Último uso: ${time}`,
  remove: 'Eliminar',
  removeOf: (email) => `Eliminar ${email}`,
  removeQuestion: (email) => `¿Eliminar la conexión con ${email}?`,
  removeWarning: (name) =>
    `Ya no podrás iniciar sesión con ${name}, hasta que la conectes otra vez con tu contraseña.`,
  removed: 'La conexión se ha eliminado.',
  last: 'Nadie podría iniciar sesión en esta cuenta. Pon primero una contraseña.',
};
