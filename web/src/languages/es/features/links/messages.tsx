import type { BlockReason } from '../../../../api';
import type * as english from '../../../../features/links/messages';
import { formatNumber, plural } from '../../../../lib/format';
import { counted } from '../../lib/counted';
import { blockReasons } from '../../blockReasons';

const links = (count: number) => counted(count, 'enlace', 'enlaces');

export const messages: typeof english.messages = {
  loadFailed: 'Error al cargar los datos del usuario',
  viewsUnknown: 'El número de visitas no está disponible por el momento.',
  notRemoved: (count) =>
    `${plural(count, 'El enlace no se ha eliminado', 'Algunos enlaces no se han eliminado')}. Vuelve a intentarlo.`,
  notRestored: (count) =>
    `${plural(count, 'El enlace no se ha recuperado', 'Algunos enlaces no se han recuperado')}. Vuelve a intentarlo.`,
  removed: (url) => `${url} se ha eliminado`,
  restored: (url) => `${url} se ha recuperado`,
  restore: 'Recuperar',
  qr: 'Código QR',
  notSaved: 'El cambio no se ha guardado. Vuelve a intentarlo.',
};

export const list: typeof english.list = {
  title: 'Mi cuenta',
  description: 'Tus enlaces cortos, sus destinos y sus visitas.',
  heading: 'Tus enlaces',
  loggedInAs: (name) => <>Has iniciado sesión como {name}</>,
  importLinks: 'Importar enlaces',
  administration: 'Administración',
  settings: 'Ajustes',
  logOut: 'Cerrar sesión',
  label: 'Enlaces',
  loading: 'Cargando tus enlaces',
  search: 'Buscar',
  searchHint: 'Parte de un enlace, título o etiqueta',
  order: 'Orden',
  orders: { newest: 'Más recientes', oldest: 'Más antiguos', 'most viewed': 'Más visitados' },
  state: 'Estado',
  states: {
    all: 'Todos',
    active: 'Activos',
    expired: 'Caducados',
    blocked: 'Bloqueados',
    removed: 'Eliminados',
  },
  empty: 'Todavía no tienes enlaces. Los que acortes aparecerán aquí.',
  noMatch: 'Ningún enlace coincide.',
  restFailed: 'No se han cargado más enlaces.',
  count: links,
  selectedOf: (selected, total) =>
    `${formatNumber(selected)} de ${links(total)}, ${plural(selected, 'seleccionado', 'seleccionados')}`,
  selectAll: (count) => `Seleccionar los ${formatNumber(count)} que se muestran`,
  selected: 'Enlaces seleccionados',
  tag: 'Etiquetar',
  removedCount: (count) => `${links(count)} ${plural(count, 'eliminado', 'eliminados')}`,
  removeHint: 'Dejan de funcionar. Puedes recuperarlos durante 30 días.',
  tagTitle: (count) => `Etiquetar ${links(count)}`,
  tagField: 'Etiquetas que añadir, separadas por comas',
  noTag: 'Introduce una etiqueta.',
  tagged: (count) => `${links(count)} ${plural(count, 'etiquetado', 'etiquetados')}`,
  taggedSoFar: (count) => `${formatNumber(count)} hechos`,
  columns: {
    selected: 'Selección',
    link: 'Enlace',
    views: 'Visitas',
    actions: 'Acciones',
  },
};

export const row: typeof english.row = {
  select: (url) => `Seleccionar ${url}`,
  clickToCopy: 'Clic para copiar',
  tags: 'Etiquetas',
  of: (url) => `de ${url}`,
  qr: 'QR',
  qrOf: (url) => `de ${url}`,
  more: (url) => `Más acciones para ${url}`,
  statistics: 'Estadísticas',
  edit: 'Editar',
  wasRemoved: (url) => <>{url} se ha eliminado.</>,
  wasRestored: (url) => <>{url} se ha recuperado.</>,
  blocked: (reason) => `Bloqueado${reason === null ? '' : `: ${blockReasons[reason]}`}`,
  removed: 'Eliminado',
  expired: (date) => (date === null ? 'Caducado' : `Caducó el ${date}`),
  expires: (date) => `Caduca el ${date}`,
  views: (count) => plural(count, 'visita', 'visitas'),
  viewsUnknown: 'visitas desconocidas',
};

export const details: typeof english.details = {
  description: 'Un enlace corto, sus ajustes y sus estadísticas.',
  publicDescription: 'Estadísticas de un enlace corto.',
  loading: 'Cargando el enlace',
  expired: 'Este enlace ha caducado.',
  removed: 'Has eliminado este enlace. Puedes recuperarlo durante 30 días.',
  blocked: (reason: BlockReason) => `Este enlace se ha bloqueado: ${blockReasons[reason]}.`,
  change: 'Cambiar',
  save: 'Guardar',
  saved: 'Guardado',
  destination: 'Destino',
  title: 'Título',
  addTitle: 'Añadir un título',
  tags: 'Etiquetas',
  addTags: 'Añadir etiquetas',
  tagsField: 'Etiquetas, separadas por comas',
  expiry: 'Caduca',
  expiredSince: 'Caducó',
  setExpiry: 'Poner una fecha de caducidad',
  never: 'Nunca',
  afterExpiry: 'Tras la caducidad',
  afterExpiryField: 'Destino tras la caducidad (opcional)',
  noDestination: 'Muestra que el enlace ha caducado',
  domain: 'Dominio',
  changes: {
    destination: 'el destino',
    title: 'el título',
    tags: 'las etiquetas',
    expiry: 'la fecha de caducidad',
    afterExpiry: 'el destino tras la caducidad',
    domain: 'el dominio',
  },
  created: 'Creación',
  views: 'Visitas',
  viewsBy: (people, bots) =>
    `${counted(people, 'de una persona', 'de personas')}, ${formatNumber(bots)} de bots`,
  scanCode: 'Código de escaneo',
  theScanCode: 'el código de escaneo',
  history: 'Destinos anteriores',
  until: (time) => <>hasta el {time}</>,
  makePublic: 'Hacer públicas estas estadísticas',
  isPublic: 'Estas estadísticas son públicas',
  isPrivate: 'Estas estadísticas son privadas',
  publicAt: (url) => <>Públicas en {url}</>,
  publicUrl: 'la URL de las estadísticas',
};

export const expiry: typeof english.expiry = {
  field: 'Caduca el',
  timeZone: (zone) => `${zone}.`,
  noDate: 'Sin fecha, el enlace no caduca nunca.',
  past: 'Esta hora ya ha pasado. El enlace caduca en el acto.',
  quick: 'Caduca',
  inAnHour: 'Dentro de una hora',
  inADay: 'Dentro de un día',
  inAWeek: 'Dentro de una semana',
  in30Days: 'Dentro de 30 días',
  never: 'Nunca',
};

export const problems: typeof english.problems = {
  INVALID_URL: 'Introduce una URL válida',
  INVALID_ENDED_URL: 'Introduce una URL válida',
  URL_REFUSED: 'Este enlace no se puede acortar.',
  TOO_MANY_URLS: 'Este enlace ya ha tenido 500 destinos. No puedes volver a cambiarlo.',
  INVALID_TITLE: 'Introduce 100 caracteres como máximo.',
  INVALID_TAGS: 'Introduce 10 etiquetas como máximo, de hasta 30 caracteres cada una.',
  INVALID_EXPIRY: 'Introduce una fecha y una hora.',
  INVALID_DOMAIN: 'Este dominio ya no se ofrece.',
};
