/** Lines of a CSV file: RFC 4180 in UTF-8. */

/** Beginning of a file: the byte order mark, by which spreadsheets recognize UTF-8. */
export const BOM = '\ufeff';
export const CSV_TYPE = 'text/csv;charset=utf-8';

/**
 * The start of a formula, possibly after quotation marks and spaces. Such a text gets a ' in front,
 * even if it has one, so that `undoFormulas` is exact.
 */
const FORMULA = /^['"\s]*[=+\-@\t＝＋－＠]/;
/** Where a cell begins in a program that splits lines at semicolons and ignores our quotes. */
const SEPARATOR = /([;\r\n])/;

export type Cell = string | number | boolean | null | readonly string[];

/** Returns a line with its line end. null is an empty cell. A list is one cell with semicolons. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}

/** Returns a cell. No spreadsheet evaluates a part of it, whether it splits at commas or semicolons. */
function cell(value: Cell): string {
  if (value === null) return '';
  const text = Array.isArray(value) ? value.map(item).join(';') : String(value);
  const safe = typeof value === 'number' ? text : guardFormulas(text);
  return /[",;\r\n]/.test(safe) ? quoted(safe) : safe;
}

/** Returns an item of a list, in quotation marks if it contains a semicolon. */
function item(text: string): string {
  return /^"|;/.test(text) ? quoted(text) : text;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

function guardFormulas(text: string): string {
  return mapParts(text, (part) => (FORMULA.test(part) ? `'${part}` : part));
}

/** Returns the text of a cell of `csvLine`, without the ' before formulas. */
export function undoFormulas(text: string): string {
  return mapParts(text, undoFormula);
}

/** Returns a text without the ' before a formula, as many programs write it. */
export function undoFormula(text: string): string {
  return text.startsWith("'") && FORMULA.test(text.slice(1)) ? text.slice(1) : text;
}

/** Applies a function to each part of a text in which a spreadsheet may see a cell. */
function mapParts(text: string, map: (part: string) => string): string {
  return text.split(SEPARATOR).map(map).join('');
}

/** Returns the items of a cell that semicolons separate. */
export function splitList(text: string): string[] {
  return Array.from(text.matchAll(/"((?:[^"]|"")*)"(?=;|$)|[^;]+/g), ([all, inside]) =>
    typeof inside === 'string' ? inside.replaceAll('""', '"') : all,
  );
}
