/** Lines of tables that other programs read: RFC 4180, every text exactly as it is. */

/** A line with its end. Formulas are not guarded: these files are not for spreadsheets. */
export function tableLine(cells: readonly (string | number)[]): string {
  return `${cells.map((cell) => quote(String(cell))).join(',')}\r\n`;
}

function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
