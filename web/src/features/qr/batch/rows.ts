import Papa from 'papaparse';
import { messages } from './messages';

/** Maximum rows of a list. */
export const MAX_ROWS = 500;

/** Maximum bytes of a list: 500 of the longest texts fit. */
export const MAX_BYTES = 4_000_000;

/** A code to create. */
export interface Row {
  /** Number of the row in the list, from 1, including empty rows. */
  number: number;
  name: string;
  content: string;
}

/** A row without a file, and why. */
export interface Failure {
  number: number;
  name: string;
  cause: string;
}

export interface Rows {
  rows: Row[];
  failures: Failure[];
  /** How the list was interpreted, if that is not obvious: which rows are skipped, and why. */
  notes: string[];
}

/** Delimiters that spreadsheets write. */
const DELIMITERS = ['\t', ',', ';'] as const;
type Delimiter = (typeof DELIMITERS)[number];

/** A first line that tells Excel the delimiter, such as `sep=;`. */
const DIRECTIVE = /^\ufeff?"?sep=([\t,;])"?[ \t]*(?:\r\n|\r|\n|$)/i;

/** A complete content: a URL or other standard text. Only a Wi-Fi network may contain spaces. */
const CONTENT =
  /^(?:[a-z][a-z0-9+.-]*:\/\/\S+|(?:mailto|tel|sms|smsto|geo):\S+|WIFI:[^\t]*|BEGIN:V[^]*)$/i;

/** Usual column headings. */
const NAME_WORD = /^(?:(?:file ?)?names?|label|nombre)$/i;
const CONTENT_WORD = /^(?:urls?|links?|contents?|enlaces?|contenido)$/i;

/** A possible column heading in any language. */
const HEADING = /^[^\d:/]{1,30}$/u;

/** The cells of a row, without empty ones at its end. */
type Cells = readonly string[];

/**
 * Parses a list, whose rows are a name and a content, or a content alone.
 *
 * A line that is a URL as a whole is content, even with delimiters in it. Skips a header and
 * Excel's `sep=` line.
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

/** Returns the number of line breaks within the cells of a row. */
function lineBreaks(cells: readonly string[]): number {
  return cells.join('').match(/\r\n|\r|\n/g)?.length ?? 0;
}

/** Returns name and content, or the content alone; more cells if the row has more columns. */
function partsOf(raw: readonly string[], delimiter: Delimiter): Cells {
  const cells = raw.map((cell) => cell.trim());
  while (cells.length > 2 && cells.at(-1) === '') cells.pop();
  const [first = '', second] = cells;
  if (cells.length === 2 && second === '' && CONTENT.test(first)) return [first];
  const whole = raw.join(delimiter).trim();
  return cells.length > 1 && CONTENT.test(whole) ? [whole] : cells;
}

/** Returns whether the first row is a header: by its words, or because all others are links. */
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
 * Detects the delimiter: the one that splits the most rows into a name and a content. Among equals,
 * takes the one with the most URLs as contents, and then the one that comes first in most lines.
 * Names and contents may contain the other delimiters. papaparse's own detection would split a
 * Wi-Fi text at its semicolons.
 */
function delimiterOf(list: string): Delimiter {
  const firsts = list.split(/\r\n|\r|\n/, MAX_ROWS).map((line) => {
    const unquoted = line.replace(/^\s*"(?:[^"]|"")*"/, '');
    return /[\t,;]/.exec(unquoted)?.[0];
  });
  const weigh = (delimiter: Delimiter) => {
    const { data } = Papa.parse<string[]>(list, { delimiter, preview: MAX_ROWS });
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
  /** What the user should check if the encoding was guessed; '' if it was not. */
  note: string;
}

/** Minimum share of zero bytes in UTF-16 text of mostly ASCII characters. */
const MIN_ZERO_SHARE = 1 / 8;

/**
 * Decodes a file: as UTF-16 if a byte order mark or its zero bytes indicate that, as UTF-8 if it is
 * valid, and otherwise as Windows-1252, which spreadsheets of western Europe and America write.
 * Throws if it is not text.
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
  const isUtf16 = (even === 0 || odd === 0) && even + odd >= bytes.length * MIN_ZERO_SHARE;
  if (!isUtf16) throw new Error('The file has zero bytes and is no text');
  return even === 0 ? 'utf-16le' : 'utf-16be';
}
