/** Lines of a CSV file: RFC 4180 in UTF-8. */

/** Beginning of a file: the byte order mark, by which spreadsheets recognize UTF-8. */
export const BOM = '\ufeff';
export const CSV_TYPE = 'text/csv;charset=utf-8';

/**
 * The start of a formula, possibly after '. Such a text gets another ', so that `undoFormula` is
 * exact.
 */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;

export type Cell = string | number | boolean | null | readonly string[];

/** Returns a line with its line end. null is an empty cell. A list is one cell with semicolons. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}

/**
 * Returns a cell. A text that looks like a formula gets a ' in front, so that no spreadsheet
 * evaluates it.
 */
function cell(value: Cell): string {
  if (value === null) return '';
  const text = Array.isArray(value) ? value.map(item).join(';') : String(value);
  const safe = typeof value !== 'number' && FORMULA.test(text) ? `'${text}` : text;
  return /[",;\r\n]/.test(safe) ? quoted(safe) : safe;
}

/** Returns an item of a list, in quotation marks if it contains a semicolon. */
function item(text: string): string {
  return /^"|;/.test(text) ? quoted(text) : text;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** Returns the text of a cell without the ' before a formula. */
export function undoFormula(text: string): string {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}

/** Returns the items of a cell that semicolons separate. */
export function splitList(text: string): string[] {
  return Array.from(text.matchAll(/"((?:[^"]|"")*)"(?=;|$)|[^;]+/g), ([all, inside]) =>
    typeof inside === 'string' ? inside.replaceAll('""', '"') : all,
  );
}
