import { jsPDF, ShadingPattern } from 'jspdf';
import { channelsOf } from '../colors';
import type { Drawing, Gradient } from '../drawing';

const POINTS_PER_MILLIMETRE = 72 / 25.4;

/** A method that the types of jsPDF omit. */
type Writer = jsPDF['internal'] & { write: (operators: string) => void };

/** Writes a drawing as a vector PDF of one page, `millimetres` along a side, with its logo. */
export function pdfOf(drawing: Drawing, millimetres: number): Blob {
  const { side, background, shapes, logo } = drawing;
  const points = millimetres * POINTS_PER_MILLIMETRE;
  const scale = points / side;
  const pdf = new jsPDF({
    unit: 'pt',
    format: [points, points],
    compress: true,
    putOnlyUsedFonts: true,
    floatPrecision: 5,
  });
  // The library's default API does not support gradients.
  pdf.advancedAPI(() => {
    const fillWith = (color: string) => (pdf.internal as Writer).write(inkOf(color));
    fillWith(background);
    pdf.rect(0, 0, points, points, 'F');
    shapes.forEach(({ path, fill }, at) => {
      if (typeof fill === 'string') {
        fillWith(fill);
        pdf.path(linesOf(path, scale)).fill();
      } else {
        const key = `g${at}`;
        pdf.addShadingPattern(key, shadingOf(fill, scale));
        pdf.path(linesOf(path, scale)).fill({ key, matrix: pdf.unitMatrix });
      }
    });
  });
  if (logo) {
    const { src, x, y, width, height } = logo;
    pdf.addImage(src, 'PNG', x * scale, y * scale, width * scale, height * scale);
  }
  return pdf.output('blob');
}

/** Returns the operator that sets a fill color. The library's setter rounds to hundredths. */
function inkOf(color: string): string {
  return `${channelsOf(color)
    .map((channel) => (channel / 255).toFixed(4))
    .join(' ')} rg`;
}

/** Converts a path to the library's format. */
function linesOf(path: string, scale: number) {
  return Array.from(path.matchAll(/([MLCZ])([^MLCZ]*)/g), ([, command = '', list = '']) => ({
    op: command === 'Z' ? 'h' : command.toLowerCase(),
    c: list
      .split(' ')
      .filter(Boolean)
      .map((number) => Number(number) * scale),
  }));
}

function shadingOf({ kind, from, to, colors }: Gradient, scale: number): ShadingPattern {
  const [[x1, y1], [x2, y2]] = [from, to];
  const radius = Math.hypot(x2 - x1, y2 - y1);
  const places = kind === 'linear' ? [x1, y1, x2, y2] : [x1, y1, 0, x1, y1, radius];
  const stops = colors.map((color, offset) => ({ offset, color: channelsOf(color) }));
  return new ShadingPattern(
    kind === 'linear' ? 'axial' : 'radial',
    places.map((place) => place * scale),
    stops,
  );
}
