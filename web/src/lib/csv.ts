/** Lines of a CSV file: RFC 4180 in UTF-8. */

/** Begins a file: the mark by which spreadsheets know that it is UTF-8. */
export const BOM = '\ufeff';
export const CSV_TYPE = 'text/csv;charset=utf-8';

/** The start of a formula, also after ': such a text gets one more ', so that `undoFormula` is exact. */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;

export type Cell = string | number | boolean | null | readonly string[];

/** A line with its end; null is an empty cell, and a list one with semicolons. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}

/** A text that looks like a formula has a ' in front of it, so that no spreadsheet reckons with it. */
function cell(value: Cell): string {
  if (value === null) return '';
  const text = Array.isArray(value) ? value.map(item).join(';') : String(value);
  const safe = typeof value !== 'number' && FORMULA.test(text) ? `'${text}` : text;
  return /[",;\r\n]/.test(safe) ? quoted(safe) : safe;
}

/** An item of a list; one with a semicolon is in quotation marks. */
function item(text: string): string {
  return /^"|;/.test(text) ? quoted(text) : text;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** The text of a cell without the ' before a formula. */
export function undoFormula(text: string): string {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}

/** The items of a cell with semicolons between them. */
export function splitList(text: string): string[] {
  return Array.from(text.matchAll(/"((?:[^"]|"")*)"(?=;|$)|[^;]+/g), ([all, inside]) =>
    typeof inside === 'string' ? inside.replaceAll('""', '"') : all,
  );
}
