/** Splits rows into batches for the calls of an import, limited by rows and by bytes. */
import type { CheckedRow, ImportedRow } from '../../api';
import { isCode } from '../../lib/codes';
import type { Row } from './parsed';

export const MAX_CHECKED_ROWS = 500;
export const MAX_IMPORTED_ROWS = 200;
/** Maximum bytes of the rows of one call in JSON. A request body can have 512 KiB. */
const MAX_BYTES = 500_000;

const encoder = new TextEncoder();

/** Yields the rows in their order, in lists of at most `maxRows`. */
export function* batchesOf<T extends CheckedRow>(
  rows: Iterable<T>,
  maxRows: number,
): Generator<T[]> {
  let batch: T[] = [];
  let bytes = 0;
  for (const row of rows) {
    const size = encoder.encode(JSON.stringify(row)).length + 1;
    if (batch.length === maxRows || (batch.length > 0 && bytes + size > MAX_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(row);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/**
 * Returns a row for the check. An ending that is not a valid code can have any length and is not
 * sent.
 */
export function checkedRow({ row, code, destination }: Row): CheckedRow {
  return { row, code: code !== null && isCode(code) ? code : null, url: destination };
}

export function importedRow(row: Row, code: string): ImportedRow {
  const { title, tags, created_at, expires_at, domain } = row;
  const url = row.destination;
  const kept = { row: row.row, code, url, title, tags, created_at, expires_at };
  return domain === undefined ? kept : { ...kept, domain };
}
