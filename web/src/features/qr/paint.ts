import type { Drawing, Fill } from './drawing';

/** The context of a canvas on the page or in a worker. */
type Pen = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

/** Paints a drawing on a square of `size` pixels. Without `image`, the logo's area stays empty. */
export function paint(
  pen: Pen,
  size: number,
  { side, background, shapes, logo }: Drawing,
  image?: CanvasImageSource,
): void {
  const scale = size / side;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.fillStyle = background;
  pen.fillRect(0, 0, side, side);
  for (const { path, fill } of shapes) {
    pen.fillStyle = fillStyle(pen, fill);
    pen.fill(new Path2D(path));
  }
  if (logo && image) pen.drawImage(image, logo.x, logo.y, logo.width, logo.height);
}

function fillStyle(pen: Pen, fill: Fill): string | CanvasGradient {
  if (typeof fill === 'string') return fill;
  const { kind, from, to, colors } = fill;
  const [[x1, y1], [x2, y2]] = [from, to];
  const gradient =
    kind === 'linear'
      ? pen.createLinearGradient(x1, y1, x2, y2)
      : pen.createRadialGradient(x1, y1, 0, x1, y1, Math.hypot(x2 - x1, y2 - y1));
  colors.forEach((color, at) => gradient.addColorStop(at, color));
  return gradient;
}
