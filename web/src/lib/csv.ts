/** Lines of a CSV file: RFC 4180 in UTF-8. */

/** Begins a file: the mark by which spreadsheets know that it is UTF-8. */
export const BOM = '\ufeff';
export const CSV_TYPE = 'text/csv;charset=utf-8';

/** What a spreadsheet would take for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

export type Cell = string | number | boolean | null | readonly string[];

/** A line with its end; null is an empty cell, and a list one with semicolons. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}

/** A text that looks like a formula has a ' in front of it, so that no spreadsheet reckons with it. */
function cell(value: Cell): string {
  if (value === null) return '';
  const text = Array.isArray(value) ? value.join(';') : String(value);
  const safe = typeof value !== 'number' && FORMULA.test(text) ? `'${text}` : text;
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
