import type * as english from '../../../../features/import/messages';
import { formatNumber, plural } from '../../../../lib/format';
import { messages as shared } from '../../components/messages';
import { counted } from '../../lib/counted';

export const sourceNames: typeof english.sourceNames = {
  atajo: 'Atajo',
  bitly: 'Bitly',
  bookmarks: 'Marcadores del navegador',
  chhoto: 'chhoto',
  csv: 'Otra tabla',
  dub: 'Dub',
  kutt: 'Kutt',
  polr: 'Polr',
  rebrandly: 'Rebrandly',
  shlink: 'Shlink',
  shortio: 'Short.io',
  sink: 'Sink',
  spoo: 'spoo.me',
  tinycc: 'tiny.cc',
  tinyurl: 'TinyURL',
  yourls: 'YOURLS',
};

export const stateNames: typeof english.stateNames = {
  archived: 'archivado',
  deleted: 'borrado',
  disabled: 'desactivado',
  expired: 'caducado',
  secret: 'protegido',
};

export const causes: typeof english.causes = {
  'no-destination': 'Falta el destino.',
  'destination-too-long': 'El destino tiene más de 999 caracteres.',
  'quote-not-closed': 'Falta cerrar unas comillas.',
  'quote-misplaced': 'Unas comillas están fuera de lugar, así que falta una columna.',
  'too-many-columns': 'Tiene más columnas que el encabezado.',
  'not-an-entry': 'Esto no es un enlace.',
};

export const notes: typeof english.notes = {
  'created-dropped': 'La fecha de creación es futura o anterior a 1995 y no se importa.',
  'created-unreadable': 'La fecha de creación no se ha podido leer y no se importa.',
  'expires-dropped': 'La fecha de caducidad es anterior a 1995 o posterior a 9999 y no se importa.',
  'expires-unreadable': 'La fecha de caducidad no se ha podido leer y no se importa.',
  'title-cut': 'El título se ha cortado a 100 caracteres.',
  'title-cleaned':
    'Los saltos de línea y los caracteres de control del título se han sustituido por espacios.',
  'tags-dropped': 'Solo se importan las 10 primeras etiquetas.',
  'tag-cut': 'Algunas etiquetas se han cortado a 30 caracteres.',
  'destination-joined': 'El destino contiene el separador. Comprueba que está completo.',
  'one-of-several': 'Este enlace tiene varias terminaciones. Cada una será un enlace.',
  'conditions-dropped':
    'No se importan los límites de visitas, las fechas de inicio, el enmascaramiento ni otros destinos para algunos dispositivos o países.',
  'ended-url-dropped': 'El destino tras la caducidad no se importa.',
};

export const problems: typeof english.problems = {
  archive: () => 'Este archivo está comprimido. Descomprímelo primero.',
  'bookmarks-skipped': (count) =>
    `${counted(count, 'marcador no es una dirección web y se omite', 'marcadores no son direcciones web y se omiten')}.`,
  'descriptions-dropped': (count) =>
    `${counted(count, 'descripción no se importa', 'descripciones no se importan')}.`,
  empty: () => 'Este archivo está vacío.',
  'encoding-guessed': () =>
    'Este archivo no es UTF-8 y se ha leído como Windows-1252. Comprueba las letras con tilde.',
  'json-broken': () =>
    'Una parte de este archivo JSON no se ha podido leer. Puede que esté incompleto.',
  'json-repaired': () =>
    'Este archivo JSON contiene caracteres de control. Se han leído como texto.',
  'no-known-table': () => 'En este archivo SQL no hay enlaces de YOURLS ni de Polr.',
  'no-rows': () => 'Este archivo no contiene enlaces.',
  'not-text': () => 'Este archivo no es de texto.',
  'quotes-ignored': () =>
    'Hay demasiadas comillas sin cerrar. El resto del archivo se ha leído sin ellas.',
  'root-links-skipped': (count) =>
    `${counted(count, 'enlace es la raíz de un dominio, sin terminación, y se omite', 'enlaces son la raíz de un dominio, sin terminación, y se omiten')}.`,
  'too-large': () => 'Este archivo ocupa más de 50 MB.',
  'too-many-rows': (count) =>
    `Solo se importan las primeras 100.000 filas. ${counted(count, 'fila queda', 'filas quedan')} fuera.`,
  workbook: () => 'Esto es un libro de Excel o un archivo ZIP. Guarda primero la tabla como CSV.',
};

export const zoneQuestion: typeof english.zoneQuestion = (count) =>
  `${counted(count, 'fecha no tiene', 'fechas no tienen')} zona horaria. Elige la del servidor que ${plural(count, 'la', 'las')} escribió.`;

export const columnsQuestion = '¿Qué columnas contienen los enlaces? Comprueba las sugerencias.';

const links = (count: number) => counted(count, 'enlace', 'enlaces');
const rows = (count: number) => counted(count, 'fila', 'filas');

const stateAtSource: typeof english.stateNames = {
  archived: 'archivados en el origen',
  deleted: 'borrados en el origen',
  disabled: 'desactivados en el origen',
  expired: 'caducados',
  secret: 'protegidos en el origen',
};

export const messages: typeof english.messages = {
  title: 'Importar enlaces',
  description: 'Trae tus enlaces de otro acortador, de una hoja de cálculo o de tus marcadores.',
  yourLinks: 'Tus enlaces',
  intro:
    'Elige un archivo exportado de otro acortador de URL, una hoja de cálculo guardada como CSV o tus marcadores exportados. Atajo lee Bitly, TinyURL, Rebrandly, Short.io, YOURLS, Shlink, Kutt, Dub, Sink, chhoto, Polr y sus propias exportaciones.',
  limits: 'Hasta 100.000 enlaces y 50 MB. No se importa nada antes de que lo compruebes.',
  file: 'Archivo',
  choose: 'Elegir un archivo',
  drop: 'También puedes soltar un archivo en cualquier parte de esta página.',
  paste: 'O pega enlaces',
  pasteHint: 'Un enlace por línea, o filas copiadas de una hoja de cálculo.',
  read: 'Leer el texto pegado',
  nothingPasted: 'Pega primero algunos enlaces o elige un archivo.',
  unreadableFile: 'El archivo no se ha podido leer. Vuelve a elegirlo o guarda antes una copia.',
  reading: 'Leyendo el archivo',
  readingOf: (name, percent) => `Leyendo ${name}: ${percent}`,
  pasted: 'el texto pegado',
  canceled: 'Cancelado',
  found: (count, name) => `${links(count)} en ${name}`,
  format: 'Formato',
  notSource: (name) =>
    `Este archivo no parece una exportación de ${name}. Comprueba las columnas de abajo o elige otro formato.`,
  zone: 'Zona horaria',
  columns: 'Columnas',
  fields: {
    destination: 'Destino',
    code: 'Terminación',
    title: 'Título',
    tags: 'Etiquetas',
    created_at: 'Creación',
    expires_at: 'Caducidad',
  },
  noColumn: 'Ninguna',
  column: (number, sample) =>
    sample === ''
      ? `Columna ${formatNumber(number)}`
      : `Columna ${formatNumber(number)}: ${sample}`,
  hasHeader: 'La primera fila da nombre a las columnas',
  sample: 'Primeras filas del archivo',
  noDestination: 'Elige la columna de los destinos.',
  applyColumns: 'Usar estas columnas',
  otherFile: 'Elegir otro archivo',
  check: 'Comprobar estos enlaces',
  checkHint: 'La comprobación no escribe nada.',
  checking: 'Comprobando los enlaces',
  checkingOf: (done, total) =>
    `${formatNumber(done)} de ${rows(total)}, ${plural(done, 'comprobada', 'comprobadas')}`,
  checkFailed: 'Los enlaces no se han podido comprobar. Vuelve a intentarlo.',
  checked: (count) => `${rows(count)} ${plural(count, 'comprobada', 'comprobadas')}`,
  filter: 'Mostrar',
  all: 'todas',
  filterOf: (name, count) => `${name} ${formatNumber(count)}`,
  options: 'Opciones',
  newCodes: 'Dar códigos nuevos cuando haga falta',
  newCodesHint: (count) =>
    `${counted(count, 'enlace tiene', 'enlaces tienen')} una terminación que aquí no se puede usar.`,
  include: (state, count) => `Importar enlaces ${stateAtSource[state]} (${formatNumber(count)})`,
  rowsList: 'Filas comprobadas',
  row: (place) => `Fila ${formatNumber(place)}`,
  noEnding: 'sin terminación',
  missingEnding: 'El enlace no tiene terminación.',
  download: 'Descargar la comprobación como CSV',
  checkFile: 'atajo-comprobacion.csv',
  import: (count) => `Importar ${links(count)}`,
  nothing:
    'No hay nada que importar. Corrige las filas de tu archivo o cambia las opciones de arriba.',
  preparing: 'Preparando la importación',
  importing: 'Importando los enlaces',
  importingOf: (done, total) => `${formatNumber(done)} de ${rows(total)}`,
  goesOn: 'Si cierras esta página, la importación continúa la próxima vez que la abras.',
  stay: 'Este navegador no puede guardar la importación. Deja esta página abierta hasta que termine.',
  waiting: (when) =>
    `El servidor está ocupado o se ha alcanzado un límite. La importación continúa ${when}.`,
  checkWaiting: (when) => `El servidor está ocupado. La comprobación continúa ${when}.`,
  pause: 'Pausar',
  paused: 'La importación está en pausa.',
  continue: 'Continuar',
  stop: 'Detener la importación',
  importFailed: 'La importación se ha detenido. Los enlaces ya importados se conservan.',
  full: `${shared.accountFull} Los enlaces ya importados se conservan.`,
  lost: 'Este navegador ya no tiene las filas de la importación interrumpida. Vuelve a elegir el archivo: los enlaces ya importados se reconocen.',
  foreign:
    'Otra cuenta empezó una importación en este navegador. Inicia sesión en esa cuenta para continuarla, o descártala.',
  discard: 'Descartarla',
  imported: (count) => `${plural(count, 'Se ha importado', 'Se han importado')} ${links(count)}.`,
  notImported: (count) =>
    `${rows(count)} no se ${plural(count, 'ha importado', 'han importado')}. El CSV dice por qué.`,
  downloadResults: 'Descargar las URL cortas antiguas y nuevas como CSV',
  resultsFile: 'atajo-importacion.csv',
  resultColumns: ['URL corta antigua', 'URL corta nueva', 'Destino', 'Resultado'],
  checkColumns: ['Fila', 'Terminación', 'Destino', 'Veredicto', 'Qué ocurre', 'Causa'],
  another: 'Importar otro archivo',
  downloadFailed: 'La descarga ha fallado. Vuelve a intentarlo.',
};

export const past: typeof english.past = {
  heading: 'Importaciones recientes',
  loading: 'Cargando tus importaciones',
  loadFailed: 'Tus importaciones no se han cargado.',
  hint: 'Una importación se puede deshacer durante 30 días.',
  item: (moment, count) => `${moment}: ${links(count)}`,
  removed: (count) => `${links(count)} de nuevo ${plural(count, 'eliminado', 'eliminados')}`,
  undo: 'Deshacer esta importación',
  undoOf: (moment) => `Deshacer esta importación del ${moment}`,
  question: '¿Deshacer esta importación?',
  warning: (count) =>
    `${plural(count, 'Se elimina el enlace que creó, salvo si lo', 'Se eliminan los enlaces que creó, salvo los que')} has cambiado después. Puedes ${plural(count, 'recuperarlo', 'recuperarlos')} durante 30 días.`,
  undone: (count) => `${plural(count, 'Se ha eliminado', 'Se han eliminado')} ${links(count)}.`,
  failed: 'La importación no se ha deshecho. Vuelve a intentarlo.',
  gone: 'Esta importación ya no se puede deshacer.',
};

export const tableColumns: typeof english.tableColumns = [
  'Fila',
  'Terminación y destino',
  'Veredicto',
  'Qué ocurre',
];

export const cannotMove: typeof english.cannotMove = {
  bookmarks: 'Los marcadores no tienen URL corta. Cada uno recibe una nueva.',
  host: (host) =>
    `Las URL cortas de ${host} no se pueden trasladar: ${host} decide adónde llevan. Atajo importa sus terminaciones y destinos, y crea URL cortas propias.`,
  otherHost: 'otro servicio',
};

export const verdictNames: typeof english.verdictNames = {
  new: 'nueva',
  exists: 'ya existe',
  taken: 'ocupada',
  reserved: 'reservada',
  'not a code': 'no es un código',
  refused: 'rechazada',
  'not http': 'no es http',
  duplicate: 'duplicada',
  unreadable: 'ilegible',
};

export const verdictCauses: typeof english.verdictCauses = {
  new: '',
  exists: 'Ya tienes este enlace.',
  taken: 'Esta terminación está ocupada.',
  reserved: 'Esta terminación está reservada.',
  'not a code': 'Una terminación tiene entre 4 y 32 letras, cifras, guiones o guiones bajos.',
  refused: 'El destino está bloqueado o es una URL corta de este sitio.',
  'not http': 'El destino no es una dirección web.',
  duplicate: 'Una fila anterior tiene la misma terminación y el mismo destino.',
  unreadable: 'La fila no se ha podido leer.',
};

export const actions: typeof english.actions = {
  import: 'Se importará.',
  newEnding: 'Recibirá una terminación nueva.',
  skipped: 'Se omite.',
  skippedAs: (state) => `Se omite porque está ${state} en el origen.`,
  correct: (place) =>
    `Se omite. Corrige la fila ${formatNumber(place)} en el archivo y vuelve a elegirlo.`,
};
