/** Detects the dialect of a table: its separator, its line ends and its header. */
import { normalizeHeader } from '../headers';
import { looksLikeColumns } from './columns';
import { firstRecords, isBlank, type Dialect } from './csvRecords';
import { serviceOfTable } from './services';

const SEPARATORS = [',', ';', '\t', '|'] as const;
/** Separator of a list with one column: a control character that does not occur in it. */
const NO_SEPARATOR = '\u001f';
/** Number of records that the detection examines. */
const SAMPLE = 20;
/** Minimum share of records of a table that have all columns of the header. */
const MIN_FULL_SHARE = 0.6;
/** Excel's first line that names the separator. */
const DIRECTIVE = /^"?sep=([,;\t|])"?[ \t]*(?:\r\n|\r|\n|$)/i;

export interface DetectedDialect extends Dialect {
  /** Whether the first record is `sep=`. */
  hasDirective: boolean;
}

export function detectDialect(head: string): DetectedDialect {
  const separator = DIRECTIVE.exec(head)?.[1];
  const newline = newlineOf(head);
  const plain = { newline, quoted: true, escaped: false };
  if (separator !== undefined) {
    return { ...withEscapes(head, { separator, ...plain }), hasDirective: true };
  }
  const weighed = SEPARATORS.map((one) => weigh(head, { separator: one, ...plain }));
  const [best] = weighed.toSorted((one, other) => compare(one.weight, other.weight));
  if (best?.weight.some((weight) => weight > 0)) {
    return { ...withEscapes(head, best.dialect), hasDirective: false };
  }
  return { separator: NO_SEPARATOR, ...plain, hasDirective: false };
}

/** Returns the dialect with backslashes as escapes, if fewer quotation marks are then misplaced. */
function withEscapes(head: string, dialect: Dialect): Dialect {
  if (!head.includes('\\"')) return dialect;
  const escaped = { ...dialect, escaped: true };
  return faults(head, escaped) < faults(head, dialect) ? escaped : dialect;
}

function faults(head: string, dialect: Dialect): number {
  return firstRecords(head, dialect, Infinity).filter(({ misquoted }) => misquoted).length;
}

/**
 * Returns the line end. A bare CR ends lines only if the text has no line feed. Line ends inside
 * quotation marks do not count.
 */
function newlineOf(head: string): Dialect['newline'] {
  const unquoted = head.replace(/"[^"]*"/g, '');
  return unquoted.includes('\r') && !unquoted.includes('\n') ? '\r' : '\n';
}

/**
 * Weighs a dialect. A known header with a constant number of columns is best, then either of them.
 */
function weigh(head: string, dialect: Dialect) {
  const records = firstRecords(head, dialect, SAMPLE).filter((record) => !isBlank(record));
  const counts = records.map(({ cells }) => cells.length);
  const columns = counts[0] ?? 0;
  const names = (records[0]?.cells ?? []).map(normalizeHeader);
  const isKnown = serviceOfTable(names) !== undefined || looksLikeColumns(names);
  const isConstant = columns > 1 && counts.every((count) => count === columns);
  // Records with more columns than the header have the separator in an unquoted cell.
  const full = counts.filter((count) => count >= columns).length;
  const isTable = columns > 1 && full >= MIN_FULL_SHARE * counts.length;
  const weight = [isKnown && isConstant, isKnown && columns > 1, isConstant, isTable];
  return { dialect, weight: [...weight.map(Number), isTable ? columns : 0] };
}

/** Sorts greater weights first. */
function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at === -1 ? 0 : (other[at] ?? 0) - (one[at] ?? 0);
}
