import type * as english from '../../../../features/session/messages';

export const messages: typeof english.messages = {
  email: 'Correo electrónico',
  password: 'Contraseña',
  username: 'Nombre de usuario',
  currentPassword: 'Contraseña actual',
  newPassword: 'Contraseña nueva',
  ruleMet: '(se cumple)',
  ruleNotMet: '(no se cumple)',
  noPassword: 'Introduce tu contraseña',
  confirm: 'Has iniciado sesión hace demasiado tiempo. Confírmalo primero.',
  revoke: 'Revocar también todas las claves de API y las claves de acceso',
  revokeHint:
    'Úsalo si otra persona puede haber usado tu cuenta. Los programas con una clave de API dejan de funcionar, y ya no puedes iniciar sesión con una clave de acceso.',
  sessionEnded: 'Tu sesión ha terminado. Vuelve a iniciar sesión.',
  failed: 'Algo ha fallado. Vuelve a intentarlo.',
  tooMany: (when) => `Demasiados intentos. Vuelve a intentarlo ${when}.`,
  outdated: 'Hay una versión nueva de esta página. Recárgala.',
};

export const login: typeof english.login = {
  title: 'Iniciar sesión',
  description: 'Inicia sesión en Atajo para ver tus enlaces y sus visitas.',
  submit: 'INICIAR SESIÓN',
  forgot: '¿Has olvidado tu contraseña?',
  noAccount: '¿Todavía no tienes cuenta?',
  register: 'Regístrate',
  incorrect: 'Contraseña incorrecta',
  'no-exist': 'No hay ninguna cuenta con este correo electrónico',
  suspended: 'Esta cuenta está suspendida: el responsable de este sitio la ha bloqueado.',
};

export const register: typeof english.register = {
  title: 'Registrarse',
  description: 'Crea una cuenta gratuita de Atajo para reunir tus enlaces y ver sus visitas.',
  submit: 'REGISTRARSE',
  hasAccount: '¿Ya tienes cuenta?',
  logIn: 'Inicia sesión',
  exist: 'Este correo electrónico ya está registrado',
  invite: 'El registro es por invitación.',
  closed: 'El registro está cerrado.',
  invitation:
    'Esta invitación no es válida: se ha usado, ha caducado o es para otro correo electrónico.',
  noEmail: 'Introduce un correo electrónico',
  noUsername: 'Introduce un nombre de usuario',
  longUsername: 'El nombre de usuario debe tener menos de 30 caracteres',
  badEmail: 'Introduce un correo electrónico válido',
  rules: {
    length: 'Al menos 8 caracteres',
    uppercase: 'Al menos una letra mayúscula',
    digit: 'Al menos un dígito',
    symbol: 'Al menos un símbolo',
    bytes: 'Como máximo 72 bytes',
  },
};

export const account: typeof english.account = {
  password: 'Contraseña',
  changePassword: 'Cambiar la contraseña',
  passwordChanged: 'Tu contraseña se ha cambiado. Se han cerrado todas las demás sesiones.',
  codesDeleted: 'Una contraseña nueva borra tus códigos de recuperación. Crea otros después.',
  deleteAccount: 'Borrar la cuenta',
  deleteQuestion: '¿Borrar tu cuenta?',
  deletePermanently: 'Borrar para siempre',
  deletion:
    'Tu cuenta, sus enlaces y sus estadísticas se borran para siempre. Los enlaces cortos dejan de funcionar y sus códigos no se vuelven a usar.',
  deleted: 'Tu cuenta se ha borrado.',
  lastAdministrator: 'No hay más administradores que tú. Nombra a otro antes de borrar tu cuenta.',
};
