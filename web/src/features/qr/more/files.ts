import { pngOf } from '../download';
import { type Design, drawDesign, type Drawing } from '../drawing';
import { outlineOf } from '../outline';
import { paint } from '../paint';

/** Pixels along a side of a PNG. */
export const pixelSizes = [400, 800, 1600, 3200] as const;

/** The drawing of a design whose text fits, with its words. */
export function drawn(design: Design): Drawing {
  const { caption } = design.style;
  return drawDesign(design, caption === null ? undefined : outlineOf(caption));
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
