/** Lines of CSV files (RFC 4180) for other programs, which need every text unchanged. */

/**
 * Returns a line with its line end. Formulas are not escaped: these files are not for spreadsheets.
 */
export function tableLine(cells: readonly (string | number)[]): string {
  return `${cells.map((cell) => quote(String(cell))).join(',')}\r\n`;
}

function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
