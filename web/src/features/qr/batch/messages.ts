/** Texts of the batch panel, and of rows for which the worker cannot create a file. */
import { counted } from '../../../lib/counted';
import { formatNumber } from '../../../lib/format';

const codes = (count: number) => counted(count, 'QR code', 'QR codes');
const rows = (count: number) => counted(count, 'row', 'rows');

export const messages = {
  field: 'Rows (name, content)',
  example: 'Front door,https://example.org/door\nTable 7,https://example.org/menu?table=7',
  hint: (maxRows: number, file: string) =>
    `Up to ${formatNumber(maxRows)} rows: type them, paste them from a spreadsheet or open a CSV file. Each row becomes ${file} in the current style. Nothing leaves your browser.`,
  png: (pixels: number) => `a PNG file of ${formatNumber(pixels)} × ${formatNumber(pixels)} pixels`,
  svg: 'an SVG file',
  pdf: 'a PDF file',
  pdfOf: (millimetres: number) => `a PDF file ${formatNumber(millimetres)} mm wide`,
  format: 'File format',
  formats: { png: 'PNG', svg: 'SVG', pdf: 'PDF' },
  slow: (files: number, pixels: number, minutes: number) =>
    `${formatNumber(files)} PNG files of ${formatNumber(pixels)} pixels may take ${counted(minutes, 'minute', 'minutes')}. Smaller PNG files, SVG and PDF are faster.`,
  open: 'Open a CSV file',
  start: 'Download ZIP',
  starting: (count: number) => `Creating ${codes(count)}`,
  progress: (done: number, total: number) =>
    `${formatNumber(done)} of ${formatNumber(total)} created and checked`,
  canceled: 'Canceled',
  done: (files: number, failures: number) =>
    `${codes(files)} created and checked.${failures === 0 ? '' : ` ${rows(failures)} failed.`}`,
  failed: 'The QR codes were not created. Please try again.',
  failures: 'Rows that failed',
  row: (number: number, name: string) =>
    `Row ${formatNumber(number)}${name === '' ? '' : ` (${name})`}: `,
  count: (count: number, failures: number) =>
    `${codes(count)} to create${failures === 0 ? '' : `, ${rows(failures)} with errors`}.`,
  noRows: 'Enter at least one row.',
  tooManyRows: (count: number, max: number) =>
    `Enter at most ${formatNumber(max)} rows. The list has ${formatNumber(count)}.`,
  tooLarge: (megabytes: number) => `A list can have at most ${formatNumber(megabytes)} MB.`,
  unreadable: 'This file could not be read.',
  badWidth: (problem: string) => `${problem} for the width of the PDF.`,

  delimiterRow: 'Row 1 sets the delimiter and is skipped.',
  headerRow: (number: number) => `Row ${number} is the header and is skipped.`,
  notUtf8:
    'This file is not UTF-8 and was read as Windows-1252. Check accented letters, or save the file as UTF-8.',

  openQuote: 'The closing quotation mark is missing.',
  insideQuote: (row: number) => `It is inside the quotation mark that starts in row ${row}.`,
  tooManyColumns: (columns: number) =>
    `It has ${columns} columns instead of two. Put content with commas, semicolons or tabs in quotation marks.`,
  noContent: 'The content is missing.',
  swapped: 'Enter the name first, then the link.',
  tooLong: (used: number, capacity: number, unit: 'characters' | 'bytes') =>
    `This text is too long for a QR code: it has ${formatNumber(used)} of ${formatNumber(capacity)} ${unit}.`,
  unread: 'The check could not read this code.',
};
