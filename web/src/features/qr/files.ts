/** Creates the files of a code, and checks them before they are saved. */
import { framed, loadDecoder, pictureOf, readPicture } from './decoder';
import { type FileFormat, pngOf } from './download';
import { type Design, drawDesign, SIZE } from './drawing';
import { svgOf } from './svg';
import { type Fault, faultOf, type Reading } from './verdict';
import type { More } from './useOptions';

/** Pixels along a side at which an SVG, or a larger PNG, is read. */
const SVG_SIZE = 1_000;
const CHECK_TIMEOUT_MS = 6_000;

interface Made {
  file: Blob;
  /** What is read instead of the file, for a PDF, which the browser cannot draw. */
  read?: Blob;
  /** Pixels along a side. */
  size: number;
}

/**
 * Creates a file of the design that the canvas `shown` shows. Without `more`, only a PNG of `SIZE`
 * pixels or an SVG in a plain style.
 */
export async function makeFile(
  format: FileFormat,
  design: Design,
  shown: HTMLCanvasElement,
  more: More | null,
): Promise<Made> {
  // A PNG of the default size is the canvas itself, pixel for pixel.
  if (format.ending === '.png' && (format.pixels === SIZE || !more)) {
    return { file: await pngOf(shown), size: SIZE };
  }
  const drawing = (more?.drawn ?? drawDesign)(design);
  const svg = new Blob([svgOf(drawing)], { type: 'image/svg+xml' });
  if (!more || format.ending === '.svg') return { file: svg, size: SVG_SIZE };
  if (format.ending === '.png') {
    return { file: await more.pngFile(drawing, format.pixels), size: format.pixels };
  }
  const file = await more.makePdf(drawing, format.millimetres);
  return { file, read: svg, size: SVG_SIZE };
}

/** Reads a file; returns why it may not scan, or null. */
export async function checkFile(
  { file, read = file, size }: Made,
  design: Design,
): Promise<Fault | null> {
  return faultOf({ ...design, size }, await readFile(read, Math.min(size, SVG_SIZE)));
}

/** Reads a file; returns undefined after `CHECK_TIMEOUT_MS`. `size` is the side in pixels. */
async function readFile(file: Blob, size: number): Promise<Reading | undefined> {
  const read = async (): Promise<Reading> => {
    const decoder = await loadDecoder();
    return { text: await readPicture(decoder, framed(await pictureOf(file), size)) };
  };
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, CHECK_TIMEOUT_MS));
  try {
    return await Promise.race([read(), late]);
  } catch (error) {
    console.warn('The file was not checked', error);
    return 'unavailable';
  }
}
