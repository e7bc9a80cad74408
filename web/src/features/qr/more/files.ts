import { pngOf } from '../download';
import { type Design, drawDesign, type Drawing } from '../drawing';
import { outlineOf } from '../outline';
import { paint } from '../paint';

/** Bare, because what is chained to an import() here becomes a part of it in the build. */
const importPdf = () => import('./pdf');

/** Pixels along a side of a PNG. */
export const pixelSizes = [400, 800, 1600, 3200] as const;

/** The drawing of a design whose text fits, with its words. */
export function drawn(design: Design): Drawing {
  const { caption } = design.style;
  return drawDesign(design, caption === null ? undefined : outlineOf(caption));
}

/** The library that writes PDF, so that it is there when it is wanted. */
export async function loadPdf(): Promise<void> {
  await importPdf();
}

/** A PDF of so many millimetres a side. Fails where the library does not load. */
export async function pdfFile(drawing: Drawing, millimetres: number): Promise<Blob> {
  const { pdfOf } = await importPdf();
  return pdfOf(drawing, millimetres);
}

/** A PNG of so many pixels a side. */
export async function pngFile(drawing: Drawing, pixels: number): Promise<Blob> {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = pixels;
  const pen = canvas.getContext('2d');
  if (!pen) throw new Error('Nothing can be drawn');
  const image = drawing.logo && (await loaded(drawing.logo.src));
  paint(pen, pixels, drawing, image);
  return pngOf(canvas);
}

async function loaded(src: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = src;
  await image.decode();
  return image;
}
