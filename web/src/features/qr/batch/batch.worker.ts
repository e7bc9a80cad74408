/** Makes the files of a list beside the page, reads each of them back, and puts them into a ZIP. */
import { downloadZip } from 'client-zip';
import { drawDesign, symbolOf } from '../drawing';
import type { Outline } from '../outline';
import { paint } from '../paint';
import { readPixels } from '../pixels';
import type { Style } from '../style';
import { wellFormed } from '../symbol';
import type { Logo } from '../useLogo';
import { uniqueNames } from './names';
import type { Failure, Row } from './rows';

export interface BatchJob {
  rows: Row[];
  /** Pixels along a side of each file. */
  pixels: number;
  style: Style;
  logo: Logo | undefined;
  /** The logo's picture. */
  image: ImageBitmap | undefined;
  /** The words of the style's frame. */
  caption: Outline | undefined;
}

/** One for each row, and the last one with what was made. */
export type BatchMessage = { done: number; failure: Failure | null } | { zip: Blob };

/** Pixels along a side at which a larger picture is read. */
const MOST_READ = 1_000;

/** White around a picture that is read, as a share of its side. */
const FRAME = 0.1;

/** Milliseconds that a hard one may be tried for. */
const LIMIT = 500;

const tell = (message: BatchMessage) => postMessage(message);

/** The ZIP asks for one file after the other, so that one picture is held at a time. */
async function* filesOf(job: BatchJob) {
  const names = uniqueNames(
    job.rows.map(({ name }) => name),
    '.png',
  );
  const board = boardOf(job.pixels);
  const sheet = boardOf(Math.round(Math.min(job.pixels, MOST_READ) * (1 + 2 * FRAME)));
  for (const [at, row] of job.rows.entries()) {
    const made = await fileOf(job, row, board, sheet);
    const failure =
      typeof made === 'string' ? { number: row.number, name: row.name, cause: made } : null;
    if (made instanceof Blob) yield { name: names[at], input: made, lastModified: new Date() };
    tell({ done: at + 1, failure });
  }
}

/** The file of a row, or why there is none. */
async function fileOf(
  { pixels, style, logo, image, caption }: BatchJob,
  row: Row,
  board: Pen,
  sheet: Pen,
): Promise<Blob | string> {
  const text = wellFormed(row.content);
  const design = { text, style, logo };
  const { modules, used, capacity, unit } = symbolOf(design);
  if (modules === null) {
    return `This text is too long for a QR code: it has ${used} of ${capacity} ${unit}.`;
  }
  paint(board, pixels, drawDesign(design, caption), image);
  const file = await board.canvas.convertToBlob({ type: 'image/png' });
  const picture = await createImageBitmap(file);
  const read = readSheet(sheet, picture);
  picture.close();
  return read === text ? file : 'The check could not read this code.';
}

type Pen = OffscreenCanvasRenderingContext2D;

function boardOf(side: number): Pen {
  const pen = new OffscreenCanvas(side, side).getContext('2d', { willReadFrequently: true });
  if (!pen) throw new Error('Nothing can be drawn');
  return pen;
}

/** What is read in a picture in the middle of a white sheet. */
function readSheet(sheet: Pen, picture: ImageBitmap): string | null {
  const { width: side } = sheet.canvas;
  sheet.fillStyle = 'white';
  sheet.fillRect(0, 0, side, side);
  const read = side / (1 + 2 * FRAME);
  sheet.drawImage(picture, (side - read) / 2, (side - read) / 2, read, read);
  return readPixels(sheet.getImageData(0, 0, side, side).data, side, LIMIT);
}

async function make(job: BatchJob): Promise<void> {
  tell({ zip: await downloadZip(filesOf(job)).blob() });
}

addEventListener('message', ({ data }: MessageEvent<BatchJob>) => {
  // The page hears of it as of every error of a worker.
  make(data).catch(reportError);
});
