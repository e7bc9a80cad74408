import type * as english from '../../../../../features/qr/batch/messages';
import { formatNumber, plural } from '../../../../../lib/format';
import { counted } from '../../../lib/counted';

const codes = (count: number) => counted(count, 'código QR', 'códigos QR');
const rows = (count: number) => counted(count, 'fila', 'filas');
const units = { characters: 'caracteres', bytes: 'bytes' };

export const messages: typeof english.messages = {
  field: 'Filas (nombre, contenido)',
  example: 'Puerta principal,https://example.org/puerta\nMesa 7,https://example.org/menu?mesa=7',
  hint: (maxRows, file) =>
    `Hasta ${rows(maxRows)}: escríbelas, pégalas de una hoja de cálculo o abre un archivo CSV. Cada fila será ${file} con el estilo actual. Nada sale de tu navegador.`,
  png: (pixels) => `un archivo PNG de ${formatNumber(pixels)} × ${formatNumber(pixels)} píxeles`,
  svg: 'un archivo SVG',
  pdf: 'un archivo PDF',
  pdfOf: (millimetres) => `un archivo PDF de ${formatNumber(millimetres)} mm de ancho`,
  format: 'Formato del archivo',
  formats: { png: 'PNG', svg: 'SVG', pdf: 'PDF' },
  slow: (files, pixels, minutes) =>
    `${counted(files, 'archivo PNG', 'archivos PNG')} de ${formatNumber(pixels)} píxeles ${plural(files, 'puede', 'pueden')} tardar ${counted(minutes, 'minuto', 'minutos')}. Los PNG más pequeños, SVG y PDF son más rápidos.`,
  open: 'Abrir un archivo CSV',
  start: 'Descargar ZIP',
  starting: (count) => `Creando ${codes(count)}`,
  progress: (done, total) =>
    `${formatNumber(done)} de ${formatNumber(total)}, ${plural(done, 'creado y comprobado', 'creados y comprobados')}`,
  canceled: 'Cancelado',
  done: (files, failures) =>
    `${codes(files)} ${plural(files, 'creado y comprobado', 'creados y comprobados')}.${failures === 0 ? '' : ` ${rows(failures)} ${plural(failures, 'ha fallado', 'han fallado')}.`}`,
  failed: 'Los códigos QR no se han creado. Vuelve a intentarlo.',
  failures: 'Filas que han fallado',
  row: (number, name) => `Fila ${formatNumber(number)}${name === '' ? '' : ` (${name})`}: `,
  count: (count, failures) =>
    `${codes(count)} por crear${failures === 0 ? '' : `, ${rows(failures)} con errores`}.`,
  noRows: 'Introduce al menos una fila.',
  tooManyRows: (count, max) =>
    `Introduce ${rows(max)} como máximo. La lista tiene ${formatNumber(count)}.`,
  tooLarge: (megabytes) => `Una lista puede ocupar ${formatNumber(megabytes)} MB como máximo.`,
  unreadable: 'Este archivo no se ha podido leer.',
  badWidth: (problem) => `${problem} para la anchura del PDF.`,

  delimiterRow: 'La fila 1 fija el separador y se omite.',
  headerRow: (number) => `La fila ${number} es el encabezado y se omite.`,
  notUtf8:
    'Este archivo no es UTF-8 y se ha leído como Windows-1252. Comprueba las letras con tilde o guarda el archivo como UTF-8.',

  openQuote: 'Faltan las comillas de cierre.',
  insideQuote: (row) => `Está dentro de las comillas que empiezan en la fila ${row}.`,
  tooManyColumns: (columns) =>
    `Tiene ${columns} columnas en lugar de dos. Pon entre comillas el contenido con comas, puntos y coma o tabuladores.`,
  noContent: 'Falta el contenido.',
  swapped: 'Introduce primero el nombre y después el enlace.',
  tooLong: (used, capacity, unit) =>
    `Este texto es demasiado largo para un código QR: tiene ${formatNumber(used)} de ${formatNumber(capacity)} ${units[unit]}.`,
  unread: 'La comprobación no ha podido leer este código.',
};
