import Papa from 'papaparse';
import { messages } from './messages';

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
  /** How the list was understood, where that is not plain: what is passed over, and why. */
  notes: string[];
}

/** What ends a name, as spreadsheets write it. */
const DELIMITERS = ['\t', ',', ';'] as const;
type Delimiter = (typeof DELIMITERS)[number];

/** The first line by which Excel is told the delimiter. */
const DIRECTIVE = /^\ufeff?"?sep=([\t,;])"?[ \t]*(?:\r\n|\r|\n|$)/i;

/** What a code says as a whole: a URL or another text by a standard. Only a Wi-Fi name has blanks. */
const CONTENT =
  /^(?:[a-z][a-z0-9+.-]*:\/\/\S+|(?:mailto|tel|sms|smsto|geo):\S+|WIFI:[^\t]*|BEGIN:V[^]*)$/i;

/** Words that head the columns of a list. */
const NAME_WORD = /^(?:(?:file ?)?names?|label|nombre)$/i;
const CONTENT_WORD = /^(?:urls?|links?|contents?|enlaces?|contenido)$/i;

/** What may head a column in any language. */
const HEADING = /^[^\d:/]{1,30}$/u;

/** A row of a list: its cells, less the empty ones at its end. */
type Cells = readonly string[];

/**
 * The rows of a list, each a name and what the code says; of a row with nothing but one of them it
 * is what the code says. A line that is a URL as a whole is content, whatever signs are in it. A
 * header and Excel's `sep=` are passed over.
 */
export function readRows(list: string): Rows {
  const [directive = '', separator] = DIRECTIVE.exec(list) ?? [];
  const table = list.slice(directive.length);
  const delimiter = DELIMITERS.find((one) => one === separator) ?? delimiterOf(table);
  const { data, errors } = Papa.parse<string[]>(table, { delimiter });
  const parsed = data.map((cells) => partsOf(cells, delimiter));
  const broken = new Set(errors.map(({ row }) => row));
  const rows: Row[] = [];
  const failures: Failure[] = [];
  const notes: string[] = [];
  let number = 0;
  if (directive !== '') {
    number += 1;
    notes.push(messages.delimiterRow);
  }
  const hasHeader = isHeaded(parsed);
  parsed.forEach((cells, at) => {
    number += 1;
    const [first = '', second, ...more] = cells;
    const [name, content] = second === undefined ? ['', first] : [first, second];
    const fail = (cause: string) => failures.push({ number, name, cause });
    if (cells.every((cell) => cell === '')) return;
    if (broken.has(at)) {
      fail(messages.openQuote);
      const opening = number;
      for (let lines = lineBreaks(data[at] ?? []); lines > 0; lines -= 1) {
        number += 1;
        const cause = messages.insideQuote(opening);
        failures.push({ number, name: '', cause });
      }
    } else if (at === 0 && hasHeader) {
      notes.push(messages.headerRow(number));
    } else if (more.length > 0) fail(messages.tooManyColumns(cells.length));
    else if (content === '') fail(messages.noContent);
    else if (CONTENT.test(name) && !CONTENT.test(content)) fail(messages.swapped);
    else rows.push({ number, name, content });
  });
  return { rows, failures, notes };
}

/** The line breaks within the cells of a row. */
function lineBreaks(cells: readonly string[]): number {
  return cells.join('').match(/\r\n|\r|\n/g)?.length ?? 0;
}

/** The name and the content of a row, or its content alone; more cells where it has more columns. */
function partsOf(raw: readonly string[], delimiter: Delimiter): Cells {
  const cells = raw.map((cell) => cell.trim());
  while (cells.length > 2 && cells.at(-1) === '') cells.pop();
  const [first = '', second] = cells;
  if (cells.length === 2 && second === '' && CONTENT.test(first)) return [first];
  const whole = raw.join(delimiter).trim();
  return cells.length > 1 && CONTENT.test(whole) ? [whole] : cells;
}

/** Whether the first row heads the columns: by its words, or because what follows are all links. */
function isHeaded([head = [], ...rest]: readonly Cells[]): boolean {
  const contentOf = (cells: Cells) => cells[1] ?? cells[0] ?? '';
  const filled = rest.filter((cells) => cells.some((cell) => cell !== ''));
  if (head.length > 2 || CONTENT.test(contentOf(head))) return false;
  if (head.length === 2 && NAME_WORD.test(head[0] ?? '')) return true;
  if (CONTENT_WORD.test(contentOf(head))) return filled.length > 0;
  const allLinks = filled.every((cells) => CONTENT.test(contentOf(cells)));
  return filled.length > 1 && allLinks && head.every((cell) => HEADING.test(cell));
}

/**
 * What ends the names: the sign that makes a name and a content of most rows, and of those alike the
 * one with the most URLs as contents, and then the one that comes first in most lines. Contents and
 * names have signs of their own.
 */
function delimiterOf(list: string): Delimiter {
  const firsts = list.split(/\r\n|\r|\n/, MOST_ROWS).map((line) => {
    const unquoted = line.replace(/^\s*"(?:[^"]|"")*"/, '');
    return /[\t,;]/.exec(unquoted)?.[0];
  });
  const weigh = (delimiter: Delimiter) => {
    const { data } = Papa.parse<string[]>(list, { delimiter, preview: MOST_ROWS });
    const pairs = data
      .map((cells) => partsOf(cells, delimiter))
      .filter(({ length, 1: content }) => length === 2 && content !== '');
    return [
      pairs.length,
      pairs.filter(([, content = '']) => CONTENT.test(content)).length,
      firsts.filter((first) => first === delimiter).length,
    ];
  };
  const weights = DELIMITERS.map((delimiter) => ({ delimiter, weight: weigh(delimiter) }));
  const [best] = weights.toSorted((one, other) => {
    const at = one.weight.findIndex((value, index) => value !== other.weight[index]);
    return (other.weight[at] ?? 0) - (one.weight[at] ?? 0);
  });
  return best?.delimiter ?? ',';
}

export interface DecodedList {
  text: string;
  /** What is to be checked where the encoding was guessed; '' where it was not. */
  note: string;
}

/** The share of bytes that are zero in UTF-16 text of mostly ASCII characters, at least. */
const ZEROS_OF_UTF_16 = 1 / 8;

/**
 * The text of a file: in UTF-16 where it says so or its zero bytes tell, in UTF-8, or else in
 * Windows-1252, which spreadsheets of western Europe and America write. Throws where it is no text.
 */
export function decodeList(bytes: Uint8Array): DecodedList {
  const utf16 = utf16Of(bytes);
  if (utf16) return { text: new TextDecoder(utf16).decode(bytes), note: '' };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), note: '' };
  } catch {
    return {
      text: new TextDecoder('windows-1252').decode(bytes),
      note: messages.notUtf8,
    };
  }
}

function utf16Of(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  let [even, odd] = [0, 0];
  bytes.forEach((byte, at) => {
    if (byte !== 0) return;
    if (at % 2 === 0) even += 1;
    else odd += 1;
  });
  if (even + odd === 0) return null;
  const isUtf16 = (even === 0 || odd === 0) && even + odd >= bytes.length * ZEROS_OF_UTF_16;
  if (!isUtf16) throw new Error('The file has zero bytes and is no text');
  return even === 0 ? 'utf-16le' : 'utf-16be';
}
