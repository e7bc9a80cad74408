import type { BlockReason } from '../../../../api';
import type * as english from '../../../../features/administration/messages';
import { formatNumber, plural } from '../../../../lib/format';
import { blockReasons } from '../../blockReasons';
import { counted } from '../../lib/counted';

export const messages: typeof english.messages = {
  title: 'Administración',
  sections: 'Secciones',
  names: {
    reports: 'Denuncias',
    links: 'Enlaces',
    accounts: 'Cuentas',
    decisions: 'Decisiones',
    instance: 'Instancia',
  },
};

export const classes: typeof english.classes = {
  phishing: 'Suplantación',
  malware: 'Software malicioso',
  spam: 'Correo no deseado',
  illegal: 'Ilegal',
  other: 'Otro',
};

export const roles: typeof english.roles = {
  member: 'Miembro',
  administrator: 'Administrador',
};

export const failures: typeof english.failures = {
  notConfirmed: 'No se ha cambiado nada, porque no has confirmado que eres tú.',
  gone: 'Ya no existe, o no hay nada que cambiar.',
  lastAdministrator: 'Es el último administrador. Nombra antes a otra persona.',
  noSubject:
    'Escribe un código, una URL corta, un host o una ruta. Los dominios de primer nivel no se pueden bloquear enteros.',
  comment: 'Escribe un comentario de 500 caracteres como máximo, en una línea.',
  email: 'Introduce un correo electrónico válido',
  invalid: 'El servidor lo ha rechazado. Revisa lo que has escrito.',
  other: 'No ha funcionado. Vuelve a intentarlo.',
};

export const lists: typeof english.lists = {
  loading: 'Cargando la lista',
  loadFailed: 'La lista no se ha cargado.',
};

export const fields: typeof english.fields = {
  class: 'Motivo',
  comment: 'Comentario (opcional, para administradores)',
};

export const secrets: typeof english.secrets = {
  copy: 'Copiar la URL',
  done: 'Hecho',
};

export const destination: typeof english.destination = {
  displayedAs: (host) => <>Se muestra como {host}</>,
  copy: 'Copiar',
  copyLabel: 'Copiar el destino',
};

const asClass = (reason: BlockReason | undefined) =>
  reason === undefined ? '' : ` por ${blockReasons[reason]}`;

export const reports: typeof english.reports = {
  loading: 'Cargando las denuncias',
  loadFailed: 'Las denuncias no se han cargado.',
  none: 'Ningún enlace espera una decisión.',
  refresh: 'Actualizar',
  list: 'Enlaces que esperan una decisión',
  count: (count) =>
    `${counted(count, 'enlace', 'enlaces')} ${plural(count, 'espera', 'esperan')} una decisión`,
  reportCount: (count) => counted(count, 'denuncia', 'denuncias'),
  views: (count) => counted(count, 'visita', 'visitas'),
  viewsUnknown: 'Visitas desconocidas',
  firstReported: (time) => `Primera denuncia: ${time}`,
  lastReported: (time) => `Última denuncia: ${time}`,
  block: 'Bloquear',
  dismiss: 'Desestimar',
  next: 'Siguiente',
  undo: 'Deshacer',
  help: 'Teclas: B bloquea, D desestima las denuncias, N muestra el enlace siguiente, P el anterior, U deshace, de 1 a 5 eligen el motivo, C va al comentario, Intro sale de él.',
  keys: 'Usar atajos de una sola tecla',
  running: (code, { action, class: reason }) =>
    action === 'block'
      ? `Bloqueando ${code}${asClass(reason)}.`
      : `Desestimando las denuncias de ${code}.`,
  done: (code, { action, class: reason }) =>
    action === 'block'
      ? `${code} se ha bloqueado${asClass(reason)}.`
      : `Las denuncias de ${code} se han desestimado.`,
  notDecided: (code, why) => `${code} queda sin decidir. ${why}`,
  undoing: (code) => `Deshaciendo la decisión sobre ${code}.`,
  undone: (code, action) =>
    action === 'block'
      ? `${code} vuelve a funcionar, y está en la lista hasta que salgas de ella.`
      : `${code} está otra vez en la lista hasta que salgas de ella.`,
  notUndone: (code, why) => `La decisión sobre ${code} se mantiene. ${why}`,
};

export const file: typeof english.file = {
  loading: 'Cargando el enlace',
  loadFailed: 'El enlace no se ha cargado.',
  preview: 'Vista previa',
  states: {
    active: () => 'Activo',
    expired: () => 'Caducado',
    removed: () => 'Eliminado por su propietario',
    blocked: (reason) => `Bloqueado${asClass(reason ?? undefined)}`,
  },
  createdAt: (time) => `Creado el ${time}`,
  changedAt: (time) => `Cambiado el ${time}`,
  owners: {
    account: 'Es de una cuenta',
    guest: 'Es de un invitado',
    nobody: 'No es de nadie',
  },
  reports: 'Qué se ha denunciado',
  history: 'Destinos anteriores',
  until: (time) => `Hasta el ${time}`,
  decisions: 'Decisiones anteriores',
  allDecisions: 'Todas las decisiones sobre este enlace',
};

export const links: typeof english.links = {
  search: 'Enlace, host o ruta',
  searchHint: 'Código, URL corta, example.com o example.com/ruta',
  find: 'Buscar',
  hint: 'Busca un enlace por su código o su URL corta, o un host o una ruta para bloquear todos los enlaces que llevan allí.',
  loading: 'Buscando',
  loadFailed: 'No se ha podido buscar.',
  blocked: (subject, reason) =>
    `${subject} está bloqueado${reason === null ? '' : `: ${reason.toLowerCase()}`}.`,
  notBlocked: (subject) => `${subject} no está bloqueado.`,
  causes: {
    decision: 'Por una decisión.',
    list: 'Por una lista de bloqueo.',
    owner: 'Lo eliminó su propietario.',
  },
  block: 'Bloquear',
  blockAnew: 'Bloquear por este motivo',
  unblock: 'Desbloquear',
  decisions: 'Decisiones',
  linkQuestion: (subject) => `¿Bloquear ${subject}?`,
  hostQuestion: (subject) =>
    `Esto bloquea todos los enlaces a ${subject} y a lo que cuelga de ahí, y rechaza los nuevos. ¿Bloquear?`,
  wasBlocked: (subject) => `${subject} se ha bloqueado.`,
  wasUnblocked: (subject) => `${subject} se ha desbloqueado.`,
};

export const accounts: typeof english.accounts = {
  search: 'Correo electrónico',
  searchHint: 'Parte de un correo electrónico',
  find: 'Buscar',
  list: 'Cuentas',
  none: 'Todavía no hay cuentas.',
  noMatch: 'Ninguna cuenta coincide.',
  isSuspended: 'Suspendida',
  links: (count) => counted(count, 'enlace', 'enlaces'),
  linksUnknown: 'Enlaces desconocidos',
  createdAt: (time) => `Creada el ${time}`,
  lastUsed: (time) => `Último uso: ${time}`,
  neverUsed: 'Sin usar',
  suspend: 'Suspender',
  resume: 'Reactivar',
  suspendQuestion: (email) => `¿Suspender ${email}?`,
  suspendHint:
    'Se cierran todas sus sesiones, no puede iniciar sesión y sus claves de API dejan de funcionar. Sus enlaces se conservan. Puedes reactivarla cuando quieras.',
  suspended: (email) => `${email} está suspendida.`,
  resumed: (email) => `${email} puede volver a iniciar sesión.`,
  endSessions: 'Cerrar sesiones',
  sessionsEnded: (email) => `Se han cerrado todas las sesiones de ${email}.`,
  reset: 'URL de restablecimiento',
  resetCreated: 'La URL para restablecer la contraseña está debajo.',
  once: (email) =>
    `Envía esta URL solo a ${email}: quien la abra podrá poner una contraseña nueva. Sirve una vez, durante una hora, y solo se muestra ahora.`,
  changeRole: {
    administrator: 'Nombrar administrador',
    member: 'Pasar a miembro',
  },
  roleQuestion: {
    administrator: (email) => `¿Dar a ${email} permiso para administrar este sitio?`,
    member: (email) => `¿Quitar a ${email} el permiso para administrar este sitio?`,
  },
  roleChanged: {
    administrator: (email) => `${email} administra este sitio.`,
    member: (email) => `${email} es miembro.`,
  },
  blockLinks: 'Bloquear enlaces',
  blockQuestion: (count, email) =>
    count === null
      ? `¿Bloquear todos los enlaces de ${email}?`
      : `¿Bloquear ${counted(count, 'enlace', 'enlaces')} de ${email}?`,
  linksBlocked: (count) =>
    plural(
      count,
      `Se ha bloqueado ${formatNumber(count)} enlace.`,
      `Se han bloqueado ${formatNumber(count)} enlaces.`,
    ),
  decisions: 'Decisiones',
};

export const invitations: typeof english.invitations = {
  title: 'Invitaciones',
  hint: 'Una invitación es una URL con la que se registra una cuenta. Sirve una vez, durante siete días. Atajo no envía correo: copia la URL y envíala tú.',
  email: 'Correo electrónico (opcional)',
  role: 'Función',
  create: 'Crear invitación',
  created: 'La invitación está debajo.',
  once: 'Envía esta URL a la persona a la que invitas. Solo se muestra ahora.',
  list: 'Invitaciones abiertas',
  loading: 'Cargando las invitaciones',
  loadFailed: 'Las invitaciones no se han cargado.',
  none: 'No hay invitaciones abiertas.',
  anyone: 'Para cualquiera',
  createdAt: (time) => `Creada el ${time}`,
  expires: (time) => `Caduca el ${time}`,
  revoke: 'Revocar',
  revokeOf: (email) =>
    email === null
      ? 'Revocar la invitación para cualquiera'
      : `Revocar la invitación para ${email}`,
  revoked: (email) =>
    email === null
      ? 'La invitación se ha revocado.'
      : `La invitación para ${email} se ha revocado.`,
};

const actionNames: Record<string, string> = {
  block: 'Bloqueado',
  unblock: 'Desbloqueado',
  dismiss: 'Denuncias desestimadas',
  suspend: 'Suspendida',
  resume: 'Reactivada',
  role: 'Función cambiada',
  'end sessions': 'Sesiones cerradas',
  'reset link': 'URL de restablecimiento creada',
  invite: 'Invitación creada',
};

export const decisions: typeof english.decisions = {
  search: 'Buscar',
  searchHint: 'Código, host, cuenta, motivo o comentario',
  find: 'Buscar',
  list: 'Decisiones',
  none: 'Todavía no se ha decidido nada.',
  noMatch: 'Ninguna decisión coincide.',
  action: (action, reason) => (actionNames[action] ?? action) + asClass(reason ?? undefined),
  by: (email) => `Por ${email}`,
  byOperator: 'Por el responsable',
  comment: (text) => `«${text}»`,
};

export const instance: typeof english.instance = {
  loading: 'Cargando el estado',
  loadFailed: 'El estado no se ha cargado.',
  links: 'Enlaces',
  accounts: 'Cuentas',
  today: 'Visitas de hoy',
  yesterday: 'Visitas de ayer',
  storage: 'Almacenamiento',
  megabytes: (megabytes) => `${formatNumber(megabytes)} MB`,
  backup: 'Última copia de seguridad',
  noBackup: 'No se conoce ninguna',
  version: 'Versión',
  unknown: 'No se sabe',
  processes: 'Procesos',
  ready: 'Listo',
  notReady: 'No listo',
  refresh: 'Actualizar',
};
