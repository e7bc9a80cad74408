import type * as english from '../../../../features/session/recoveryMessages';
import { plural } from '../../../../lib/format';

export const recovery: typeof english.recovery = {
  title: 'Códigos de recuperación',
  hint: 'Si olvidas tu contraseña, cada uno de estos códigos sirve una vez para poner otra. Atajo no envía correos, así que guarda algunos.',
  loading: 'Cargando tus códigos de recuperación',
  loadFailed: 'No se han podido cargar tus códigos de recuperación.',
  none: 'Todavía no tienes códigos de recuperación.',
  left: (left) =>
    `Te ${plural(left, 'queda', 'quedan')} ${left} ${plural(left, 'código', 'códigos')}.`,
  createdOn: (time) => `Creados el ${time}.`,
  create: 'Crear códigos de recuperación',
  replace: 'Crear códigos nuevos',
  replaceWarning: 'Los códigos que tienes ahora dejarán de funcionar.',
  offer: 'Por si olvidas tu contraseña:',
  notNow: 'Ahora no',
};

export const created: typeof english.created = {
  title: 'Tus nuevos códigos de recuperación',
  once: 'Guárdalos fuera de este dispositivo, tan bien como una contraseña. Solo se muestran esta vez.',
  list: 'Códigos de recuperación',
  download: 'Descargar',
  print: 'Imprimir',
  done: 'Listo',
  fileName: 'atajo-codigos-de-recuperacion.txt',
  file: (host, name, codes) =>
    `Códigos de recuperación de ${name} en ${host}\n\n${codes}\n\nCada código sirve una vez para poner una contraseña nueva, en https://${host}/reset-password.\n`,
};

export const reset: typeof english.reset = {
  title: 'Poner una contraseña nueva',
  description: 'Pon una contraseña nueva a tu cuenta de Atajo con un código de recuperación.',
  intro:
    'Introduce uno de los códigos de recuperación que creaste en los ajustes. Se cierran todas las sesiones.',
  noMail: (contact) => (
    <>
      Atajo no envía correos. Si no tienes ningún código, escribe a {contact} desde el correo
      electrónico de tu cuenta.
    </>
  ),
  operatorsLink:
    'Este enlace también borra tus códigos de recuperación y revoca tus claves de API y tus claves de acceso, por si las tiene otra persona.',
  code: 'Código de recuperación',
  submit: 'Poner la contraseña',
  incorrect: 'El correo electrónico o el código de recuperación no es correcto',
  noCode: 'Introduce un código de recuperación',
  done: 'Tu contraseña se ha cambiado. Ya puedes iniciar sesión con ella.',
  unknown:
    'No ha habido respuesta. Puede que tu contraseña se haya cambiado: prueba a iniciar sesión con la nueva antes de usar otro código.',
  backTo: 'Volver a',
  logIn: 'Iniciar sesión',
};
