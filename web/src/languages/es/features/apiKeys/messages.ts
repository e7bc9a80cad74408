import type * as english from '../../../../features/apiKeys/messages';

export const messages: typeof english.messages = {
  title: 'Claves de API',
  hint: 'Con una clave, tus propios programas y scripts pueden usar tus enlaces mediante la API.',
  documentation: 'Documentación de la API (en inglés)',
  loading: 'Cargando tus claves de API',
  loadFailed: 'No se han podido cargar tus claves de API.',
  none: 'No tienes claves de API.',
  full: (max) => `Tienes ${max} claves, que es el máximo. Revoca una antes de crear otra.`,
  list: 'Tus claves de API',
  failed: 'Algo ha fallado. Vuelve a intentarlo.',
  tooMany: (when) => `Demasiados intentos. Vuelve a intentarlo ${when}.`,
};

export const form: typeof english.form = {
  title: 'Crear una clave',
  name: 'Nombre',
  nameHint: 'Por ejemplo, el programa que la usa. De 1 a 50 caracteres.',
  noName: 'Introduce un nombre de 50 caracteres como máximo',
  scopes: 'Permisos',
  noScopes: 'Elige al menos un permiso',
  expiry: 'Caducidad',
  lifetimes: {
    never: 'Nunca',
    week: 'Dentro de 7 días',
    month: 'Dentro de 30 días',
    quarter: 'Dentro de 90 días',
    year: 'Dentro de 1 año',
  },
  password: 'Contraseña',
  noPassword: 'Introduce tu contraseña',
  incorrect: 'Contraseña incorrecta',
  confirm: 'Has iniciado sesión hace demasiado tiempo. Confírmalo primero.',
  create: 'Crear clave',
};

export const scopeTexts: typeof english.scopeTexts = {
  'links:read': 'Listar tus enlaces y leer sus detalles.',
  'links:write': 'Crear, cambiar, eliminar y recuperar enlaces.',
  'statistics:read': 'Leer las estadísticas de tus enlaces.',
};

export const created: typeof english.created = {
  title: (name) => `Tu nueva clave «${name}»`,
  once: 'Cópiala ahora y guárdala tan bien como una contraseña. Solo se muestra esta vez.',
  done: 'Listo',
};

export const item: typeof english.item = {
  createdOn: (day) => `Creada el ${day}`,
  expires: (day) => `Caduca el ${day}`,
  expired: (day) => `Caducó el ${day}`,
  noExpiry: 'Sin fecha de caducidad',
  lastUsed: (time) => `Último uso: ${time}`,
  neverUsed: 'Nunca se ha usado',
  revoke: 'Revocar',
  revokeKey: (name) => `Revocar ${name}`,
};

export const revoking: typeof english.revoking = {
  question: (name) => `¿Revocar la clave «${name}»?`,
  warning:
    'Los programas que usan esta clave dejan de funcionar en segundos. No se puede deshacer.',
  done: (name, left) =>
    `La clave «${name}» se ha revocado. Te ${left === 1 ? 'queda 1 clave' : `quedan ${left} claves`}.`,
};
