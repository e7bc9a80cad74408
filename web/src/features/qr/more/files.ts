import { pngOf } from '../download';
import { type Design, drawDesign, type Drawing } from '../drawing';
import { outlineOf } from '../outline';
import { paint } from '../paint';

/** Sizes of PNGs that users can choose, in pixels along a side. */
export const pixelSizes = [400, 800, 1600, 3200] as const;

/** Draws a design, whose text must fit, with its caption. */
export function drawn(design: Design): Drawing {
  const { caption } = design.style;
  return drawDesign(design, caption === null ? undefined : outlineOf(caption));
}

/** Paints a drawing as a PNG of `pixels` along a side. */
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
