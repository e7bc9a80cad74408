/** Worker that reads files of links piece by piece, so that memory does not grow with the file. */
import { EncodingDetector } from './encoding';
import type { ReadOptions, Row, Summary } from './parsed';
import { MAX_BYTES, Reading, summarizeTooLarge } from './reading';

/** Message to the worker, sent once. The page terminates the worker to cancel. */
export interface Order {
  file: Blob;
  options: ReadOptions;
}

/** Messages from the worker: rows and progress, and at the end the summary. */
export type Message =
  | { kind: 'rows'; rows: Row[] }
  | { kind: 'progress'; read: number; total: number }
  | { kind: 'end'; summary: Summary };

/** Bytes that are read at once. */
const PIECE = 1 << 20;
/** Maximum rows of one message. */
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
  // The encoding is known only after all bytes. This pass takes a fraction of the time of the
  // second one.
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
  // The page receives the error as an error event of the worker.
  readFile(data).then((summary) => tell({ kind: 'end', summary }), reportError);
});
