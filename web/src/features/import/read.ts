/** Reads all bytes of a file at once. The worker reads large files piece by piece. */
import { EncodingDetector } from './encoding';
import type { Parsed, ReadOptions, Row } from './parsed';
import { MAX_BYTES, Reading, summarizeTooLarge } from './reading';

/** Reads a file. Never throws: faults become problems or rows that are `unreadable`. */
export function read(bytes: Uint8Array, options: ReadOptions): Parsed {
  const rows: Row[] = [];
  if (bytes.length > MAX_BYTES) return { rows, ...summarizeTooLarge(options) };
  const detector = new EncodingDetector();
  detector.write(bytes);
  const reading = new Reading(detector.end(), options, (row) => rows.push(row));
  reading.write(bytes);
  return { rows, ...reading.end() };
}
