import type * as english from '../../../../features/qr/messages';
import { formatNumber } from '../../../../lib/format';
import { counted } from '../../lib/counted';

export const page: typeof english.page = {
  title: 'Generador de códigos QR personalizados',
  description:
    'Crea un código QR con tus colores y con tu logotipo en el centro, y descárgalo como PNG, SVG o PDF. No sale de tu navegador.',
  heading: 'GENERADOR DE CÓDIGOS QR PERSONALIZADOS',
  howTo: 'CÓMO SE USA',
  steps: [
    {
      title: 'CREA EL CÓDIGO QR',
      text: 'Introduce el enlace y, si quieres, un nombre para el archivo descargado.',
    },
    {
      title: 'PERSONALÍZALO',
      text: 'Añade un logotipo en el centro y cambia los colores del código y del fondo.',
    },
    { title: 'COMPÁRTELO', text: 'Descarga el código QR y compártelo o imprímelo.' },
  ],
};

const units = { characters: 'caracteres', bytes: 'bytes' };

export const messages: typeof english.messages = {
  name: 'Nombre',
  url: 'URL',
  centerImage: 'Imagen central',
  chooseImage: 'Elige, suelta o pega una imagen',
  chooseOtherImage: 'Elegir otra imagen',
  removeImage: 'Quitar la imagen',
  loadingImage: 'Cargando la imagen',
  logoAlt: 'Tu logotipo...',
  color: 'Color',
  backgroundColor: 'Color de fondo',
  close: 'CERRAR',
  colorText: 'Hexadecimal, rgb() o hsl()',
  badColor: 'Introduce un color válido',
  quietZone: 'Zona de silencio (para fondos oscuros)',
  download: 'DESCARGAR QR',
  svg: 'SVG',
  copyImage: 'Copiar la imagen',
  copied: 'Copiada',
  notCopied: 'No se ha copiado',
  moreOptions: 'Más opciones',
  loadingOptions: 'Cargando las opciones',

  noLink: 'Introduce un enlace para empezar la descarga...',
  badFile: 'Elige un tipo de archivo válido',
  damagedImage: 'Esta imagen está dañada. Elige otro archivo.',
  emptyImage: 'Esta imagen está vacía. Elige otro archivo.',
  unsizedImage: 'Este SVG no tiene tamaño. Guárdalo con una anchura y una altura.',
  notSaved: 'El archivo no se ha creado. Vuelve a intentarlo.',
  tooLong: 'Este texto es demasiado largo para un código QR',
  tooLongHint: 'Quita la imagen para que quepa más texto.',
  empty: 'Introduce un enlace para crear un código QR.',
  used: (used, capacity, unit) =>
    `${formatNumber(used)} de ${formatNumber(capacity)} ${units[unit]} en uso`,
  alternative: (text) => `Código QR de ${text}`,
  longAlternative: (length, start) =>
    `Código QR de un texto de ${counted(length, 'carácter', 'caracteres')} que empieza por ${start}`,

  scanDistance: (millimetres, distance) =>
    `Impreso con ${formatNumber(millimetres)} mm de ancho, se lee hasta a ${distance} de distancia.`,
  centimetres: (distance) => `${formatNumber(distance)} cm`,
  metres: (distance) => `${formatNumber(distance)} m`,
  badWidth: (min, max) => `Introduce de ${formatNumber(min)} a ${formatNumber(max)} milímetros`,

  scanCodeLoading: 'Creando un código de escaneo',
  scanCodeFailed: 'El código de escaneo no se ha creado. Este código QR contiene la URL corta.',
  scanCodeSmaller: (modules, before) =>
    `Usa un código de escaneo: ${size(modules)} módulos en lugar de ${size(before)}.`,
  scanCodeSame: (modules) =>
    `Usa un código de escaneo: ${size(modules)} módulos, los mismos que con la URL corta.`,
  scanCodeCorrects: (modules, level, before) =>
    `Usa un código de escaneo: ${size(modules)} módulos, con corrección de errores ${level ?? ''} en lugar de ${before ?? ''}.`,
};

export const verdicts: typeof english.verdicts = {
  well: 'Se lee bien',
  care: 'Difícil de leer',
  inverted: 'Muchas cámaras no leen códigos claros sobre un fondo oscuro.',
  close: 'Los colores son demasiado parecidos para muchas cámaras.',
  dense: 'Demasiado texto: los módulos son demasiado pequeños para muchas cámaras.',
  unread: 'La comprobación no ha podido leer este código.',
  unchecked: 'Sin comprobar: el descodificador no se ha cargado.',
  checking: 'Comprobando el código',
};
export const wellOnWhite = 'Se lee bien sobre blanco';

export const saved: typeof english.saved = {
  inverted: 'Guardado, pero puede que no se lea: código claro sobre un fondo oscuro',
  close: 'Guardado, pero puede que no se lea: los colores son demasiado parecidos',
  dense: 'Guardado, pero puede que no se lea: los módulos son muy pequeños',
  unread: 'Guardado, pero puede que no se lea: la comprobación no ha podido leerlo',
  unchecked: 'Guardado sin comprobar: el descodificador no se ha cargado',
  checking: 'Guardado sin comprobar: el descodificador todavía se está cargando',
};

export const fixes: typeof english.fixes = {
  errorCorrection: 'Aumentar la corrección de errores',
  automaticErrorCorrection: 'Usar la corrección de errores automática',
  quietZone: 'Añadir una zona de silencio',
  contrast: 'Aumentar el contraste',
  smallerImage: 'Usar una imagen más pequeña',
  removeImage: 'Quitar la imagen',
  shapes: 'Usar formas más sencillas',
  plainStyle: 'Usar el estilo sencillo',
  blackOnWhite: 'Usar negro sobre blanco',
  swapColors: 'Intercambiar los colores',
  colors: 'Corregir los colores',
  svg: 'Descargar como SVG para imprimirlo más grande',
};

function size(modules: number): string {
  return `${modules} × ${modules}`;
}
