/**
 * Makes files beside the page: those of a list, each read back and put into a ZIP, and PDFs, whose
 * library is large.
 */
import { downloadZip } from 'client-zip';
import type { Wanted } from '../download';
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
  /** What each file is. */
  wanted: Wanted;
  style: Style;
  logo: Logo | undefined;
  /** The logo's picture. */
  image: ImageBitmap | undefined;
  /** The words of the style's frame. */
  caption: Outline | undefined;
}

/** A PDF to make, so many millimetres a side. */
export interface PdfJob {
  drawing: Drawing;
  millimetres: number;
}

/** What the worker is told: to load the writer of PDFs ahead, or what to make. */
export type Order = 'load' | BatchJob | PdfJob;

/** One for each row of a list, and the last one with what was made. */
export type Message = { done: number; failure: Failure | null } | { file: Blob };

/** Pixels along a side at which a larger picture is read. */
const MOST_READ = 1_000;

/** White around a picture that is read, as a share of its side. */
const FRAME = 0.1;

/** Milliseconds that a hard one may be tried for. */
const LIMIT = 500;

const tell = (message: Message) => postMessage(message);

/** Bare, because what is chained to an import() here becomes a part of it in the build. */
const importPdf = () => import('./pdf');

/** The ZIP asks for one file after the other, so that one picture is held at a time. */
async function* filesOf(job: BatchJob) {
  const { wanted } = job;
  const names = uniqueNames(
    job.rows.map(({ name }) => name),
    wanted.ending,
  );
  const pixels = wanted.ending === '.png' ? wanted.pixels : MOST_READ;
  const board = boardOf(pixels);
  const sheet = boardOf(Math.round(Math.min(pixels, MOST_READ) * (1 + 2 * FRAME)));
  for (const [at, row] of job.rows.entries()) {
    const made = await fileOf(job, row, board, sheet);
    const failure =
      typeof made === 'string' ? { number: row.number, name: row.name, cause: made } : null;
    if (made instanceof Blob) yield { name: names[at], input: made, lastModified: new Date() };
    tell({ done: at + 1, failure });
  }
}

/** The file of a row, or why there is none. */
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
  // A worker has nobody to draw vectors: of those the painted drawing is read.
  const picture = file.type === 'image/png' ? await createImageBitmap(file) : null;
  const read = readSheet(sheet, picture ?? board.canvas);
  picture?.close();
  return read === text ? file : messages.unread;
}

/** A drawing that was painted on the board, as a file. */
async function write(wanted: Wanted, drawing: Drawing, { canvas }: Pen): Promise<Blob> {
  switch (wanted.ending) {
    case '.png':
      return canvas.convertToBlob({ type: 'image/png' });
    case '.svg':
      return new Blob([svgOf(drawing)], { type: 'image/svg+xml' });
    case '.pdf':
      return (await importPdf()).pdfOf(drawing, wanted.millimetres);
  }
}

type Pen = OffscreenCanvasRenderingContext2D;

function boardOf(side: number): Pen {
  const pen = new OffscreenCanvas(side, side).getContext('2d', { willReadFrequently: true });
  if (!pen) throw new Error('Nothing can be drawn');
  return pen;
}

/** What is read in a picture in the middle of a white sheet. */
function readSheet(sheet: Pen, picture: ImageBitmap | OffscreenCanvas): string | null {
  const { width: side } = sheet.canvas;
  sheet.fillStyle = 'white';
  sheet.fillRect(0, 0, side, side);
  const read = side / (1 + 2 * FRAME);
  sheet.drawImage(picture, (side - read) / 2, (side - read) / 2, read, read);
  return readPixels(sheet.getImageData(0, 0, side, side).data, side, LIMIT);
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
  // The page hears of it as of every error of a worker.
  make(data).then((file) => tell({ file }), reportError);
});
