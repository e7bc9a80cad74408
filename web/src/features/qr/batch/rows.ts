import Papa from 'papaparse';

/** Rows that are made in one go. */
export const MOST_ROWS = 500;

/** Of a list, the bytes that are read: 500 of the longest texts fit. */
export const MOST_BYTES = 4_000_000;

/** A code to make. */
export interface Row {
  /** Which row of the list it is, counted from 1, the empty ones too. */
  number: number;
  name: string;
  content: string;
}

/** A row of which there is no file, and why. */
export interface Failure {
  number: number;
  name: string;
  cause: string;
}

export interface Rows {
  rows: Row[];
  failures: Failure[];
}

/** What ends a name, as spreadsheets write it. */
const DELIMITERS = ['\t', ',', ';'] as const;
const HEADER = /^name$/i;

/**
 * The rows of a list, each a name and what the code says; of a row with nothing but one of them it
 * is what the code says. A first row whose first cell reads 'name' is the list's header.
 */
export function readRows(list: string): Rows {
  const { data, errors } = Papa.parse<string[]>(list, { delimiter: delimiterOf(list) });
  const broken = new Set(errors.map(({ row }) => row));
  const rows: Row[] = [];
  const failures: Failure[] = [];
  data.forEach((cells, at) => {
    const number = at + 1;
    const [first = '', second, ...more] = cells.map((cell) => cell.trim());
    const [name, content] = second === undefined ? ['', first] : [first, second];
    const fail = (cause: string) => failures.push({ number, name, cause });
    if (cells.every((cell) => cell.trim() === '')) return;
    if (at === 0 && second !== undefined && HEADER.test(first)) return;
    if (broken.has(at)) fail('A quotation mark is not closed.');
    else if (more.some((cell) => cell !== '')) fail(tooMany(cells.length));
    else if (content === '') fail('It has no content.');
    else rows.push({ number, name, content });
  });
  return { rows, failures };
}

function tooMany(columns: number): string {
  return `It has ${columns} columns, not two: content with a comma, a semicolon or a tab in it stands in quotation marks.`;
}

/** What ends the name in most lines. Content has commas and semicolons of its own, names seldom. */
function delimiterOf(list: string): string {
  const firsts = list.split(/\r\n|\r|\n/, MOST_ROWS).map((line) => {
    const unquoted = line.replace(/^\s*"(?:[^"]|"")*"/, '');
    return /[\t,;]/.exec(unquoted)?.[0];
  });
  const count = (delimiter: string) => firsts.filter((first) => first === delimiter).length;
  return DELIMITERS.reduce((best, one) => (count(one) > count(best) ? one : best));
}

/**
 * The text of a file: in UTF-8, in UTF-16 where it says so, or else in Windows-1252, which
 * spreadsheets of western Europe and America write.
 */
export function decodeList(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
