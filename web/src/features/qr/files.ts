/** The files of a code: how they are made, and read before they are saved. */
import { framed, loadDecoder, pictureOf, readPicture } from './decoder';
import { pngOf, type Wanted } from './download';
import { type Design, drawDesign, SIZE } from './drawing';
import { svgOf } from './svg';
import { type Fault, faultOf, type Reading } from './verdict';
import type { More } from './useOptions';

/** Pixels at which the decoder reads a vector drawing. */
const SVG_SIZE = 1_000;
/** Milliseconds that a file waits for its check. */
const CHECK_TIMEOUT = 6_000;

interface Made {
  file: Blob;
  /** What is read in its place where it has no pixels. */
  read?: Blob;
  /** Pixels along a side. */
  size: number;
}

/** Makes a file of a design that `shown` shows. Without `more`, a PNG or an SVG in a plain style. */
export async function makeFile(
  wanted: Wanted,
  design: Design,
  shown: HTMLCanvasElement,
  more: More | null,
): Promise<Made> {
  // At first it is what is shown, pixel for pixel.
  if (wanted.ending === '.png' && (wanted.pixels === SIZE || !more)) {
    return { file: await pngOf(shown), size: SIZE };
  }
  const drawing = (more?.drawn ?? drawDesign)(design);
  const svg = new Blob([svgOf(drawing)], { type: 'image/svg+xml' });
  if (!more || wanted.ending === '.svg') return { file: svg, size: SVG_SIZE };
  if (wanted.ending === '.png') {
    return { file: await more.pngFile(drawing, wanted.pixels), size: wanted.pixels };
  }
  const file = await more.makePdf(drawing, wanted.millimetres);
  return { file, read: svg, size: SVG_SIZE };
}

/** Reads a made file; returns why it may not scan, or null. */
export async function checkFile(
  { file, read = file, size }: Made,
  design: Design,
): Promise<Fault | null> {
  return faultOf({ ...design, size }, await readFile(read, Math.min(size, SVG_SIZE)));
}

/** What is read in a file; undefined where that takes longer than a person should wait for it. */
async function readFile(file: Blob, size: number): Promise<Reading | undefined> {
  const read = async (): Promise<Reading> => {
    const decoder = await loadDecoder();
    return { text: await readPicture(decoder, framed(await pictureOf(file), size)) };
  };
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, CHECK_TIMEOUT));
  try {
    return await Promise.race([read(), late]);
  } catch (error) {
    console.warn('The file was not checked', error);
    return 'unavailable';
  }
}
