/** Reads files of links beside the page, piece by piece, so that memory does not grow with the file. */
import { EncodingDetector } from './encoding';
import type { ReadOptions, Row, Summary } from './parsed';
import { MAX_BYTES, Reading, summarizeTooLarge } from './reading';

/** What the worker is asked for, once. The page ends it to cancel. */
export interface Order {
  file: Blob;
  options: ReadOptions;
}

/** Rows and progress as they come, and the summary as the last message. */
export type Message =
  | { kind: 'rows'; rows: Row[] }
  | { kind: 'progress'; read: number; total: number }
  | { kind: 'end'; summary: Summary };

/** Bytes that are read at once. */
const PIECE = 1 << 20;
/** Rows of one message. */
const CHUNK = 1_000;

const tell = (message: Message) => postMessage(message);

async function* piecesOf(file: Blob) {
  for (let at = 0; at < file.size; at += PIECE) {
    const piece = file.slice(at, at + PIECE);
    yield { bytes: new Uint8Array(await piece.arrayBuffer()), read: at + piece.size };
  }
}

async function readFile({ file, options }: Order): Promise<Summary> {
  if (file.size > MAX_BYTES) return summarizeTooLarge(options);
  // The encoding is known only when all bytes were seen; this pass takes a fraction of the second.
  const detector = new EncodingDetector();
  for await (const { bytes } of piecesOf(file)) detector.write(bytes);
  let rows: Row[] = [];
  const send = () => {
    if (rows.length > 0) tell({ kind: 'rows', rows });
    rows = [];
  };
  const reading = new Reading(detector.end(), options, (row) => {
    if (rows.push(row) === CHUNK) send();
  });
  for await (const { bytes, read } of piecesOf(file)) {
    reading.write(bytes);
    tell({ kind: 'progress', read, total: file.size });
  }
  const summary = reading.end();
  send();
  return summary;
}

addEventListener('message', ({ data }: MessageEvent<Order>) => {
  // The page hears of an error as of every error of a worker.
  readFile(data).then((summary) => tell({ kind: 'end', summary }), reportError);
});
