/**
 * Creates files in a worker: the files of a list, each read back and put into a ZIP, and PDFs,
 * whose library is large.
 */
import { downloadZip } from 'client-zip';
import type { FileFormat } from '../download';
import { type Drawing, drawDesign, symbolOf, type Logo } from '../drawing';
import type { Outline } from '../outline';
import { paint } from '../paint';
import { readPixels } from '../pixels';
import type { Style } from '../style';
import { svgOf } from '../svg';
import { wellFormed } from '../symbol';
import { messages } from './messages';
import { uniqueNames } from './names';
import type { Failure, Row } from './rows';

export interface BatchJob {
  rows: Row[];
  /** The format of each file. */
  wanted: FileFormat;
  style: Style;
  logo: Logo | undefined;
  /** The decoded image of the logo. */
  image: ImageBitmap | undefined;
  /** The outline of the caption. */
  caption: Outline | undefined;
}

/** A PDF to create, `millimetres` along a side. */
export interface PdfJob {
  drawing: Drawing;
  millimetres: number;
}

/** A message to the worker: preload the PDF writer, or create files. */
export type Order = 'load' | BatchJob | PdfJob;

/** One message per row of a list, then one with the file that was created. */
export type Message = { done: number; failure: Failure | null } | { file: Blob };

/** Maximum pixels along a side at which a picture is read. */
const MAX_READ_PIXELS = 1_000;

/** White margin around a picture that is read, as a share of its side. */
const MARGIN = 0.1;

/** Time limit for decoding a difficult picture. */
const TIME_LIMIT_MS = 500;

const send = (message: Message) => postMessage(message);

/** A bare import(), because the build makes any call chained to it part of the import. */
const importPdf = () => import('./pdf');

/** Yields files as the ZIP requests them, so that only one picture is in memory at a time. */
async function* filesOf(job: BatchJob) {
  const { wanted } = job;
  const names = uniqueNames(
    job.rows.map(({ name }) => name),
    wanted.ending,
  );
  const pixels = wanted.ending === '.png' ? wanted.pixels : MAX_READ_PIXELS;
  const board = boardOf(pixels);
  const sheet = boardOf(Math.round(Math.min(pixels, MAX_READ_PIXELS) * (1 + 2 * MARGIN)));
  for (const [at, row] of job.rows.entries()) {
    const made = await fileOf(job, row, board, sheet);
    const failure =
      typeof made === 'string' ? { number: row.number, name: row.name, cause: made } : null;
    if (made instanceof Blob) yield { name: names[at], input: made, lastModified: new Date() };
    send({ done: at + 1, failure });
  }
}

/** Creates and checks the file of a row. Returns an error message if that fails. */
async function fileOf(job: BatchJob, row: Row, board: Pen, sheet: Pen): Promise<Blob | string> {
  const { style, logo, image, caption } = job;
  const text = wellFormed(row.content);
  const design = { text, style, logo };
  const { modules, used, capacity, unit } = symbolOf(design);
  if (modules === null) {
    return messages.tooLong(used, capacity, unit);
  }
  const drawing = drawDesign(design, caption);
  paint(board, board.canvas.width, drawing, image);
  const file = await write(job.wanted, drawing, board);
  // A worker cannot draw SVGs and PDFs: for those, the painted drawing is read.
  const picture = file.type === 'image/png' ? await createImageBitmap(file) : null;
  const read = readSheet(sheet, picture ?? board.canvas);
  picture?.close();
  return read === text ? file : messages.unread;
}

/** Encodes a drawing, which is already painted on the canvas, as a file. */
async function write(format: FileFormat, drawing: Drawing, { canvas }: Pen): Promise<Blob> {
  switch (format.ending) {
    case '.png':
      return canvas.convertToBlob({ type: 'image/png' });
    case '.svg':
      return new Blob([svgOf(drawing)], { type: 'image/svg+xml' });
    case '.pdf':
      return (await importPdf()).pdfOf(drawing, format.millimetres);
  }
}

type Pen = OffscreenCanvasRenderingContext2D;

function boardOf(side: number): Pen {
  const pen = new OffscreenCanvas(side, side).getContext('2d', { willReadFrequently: true });
  if (!pen) throw new Error('Nothing can be drawn');
  return pen;
}

/** Reads a picture in the middle of a white square. */
function readSheet(sheet: Pen, picture: ImageBitmap | OffscreenCanvas): string | null {
  const { width: side } = sheet.canvas;
  sheet.fillStyle = 'white';
  sheet.fillRect(0, 0, side, side);
  const read = side / (1 + 2 * MARGIN);
  sheet.drawImage(picture, (side - read) / 2, (side - read) / 2, read, read);
  return readPixels(sheet.getImageData(0, 0, side, side).data, side, TIME_LIMIT_MS);
}

async function make(job: BatchJob | PdfJob): Promise<Blob> {
  if (!('drawing' in job)) return downloadZip(filesOf(job)).blob();
  return (await importPdf()).pdfOf(job.drawing, job.millimetres);
}

addEventListener('message', ({ data }: MessageEvent<Order>) => {
  if (data === 'load') {
    importPdf().catch((error: unknown) => console.warn('The PDF writer did not load', error));
    return;
  }
  // The page receives it as an `error` event of the worker.
  make(data).then((file) => send({ file }), reportError);
});
