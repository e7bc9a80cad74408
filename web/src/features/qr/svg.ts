import { type Drawing, type Gradient, SIZE } from './drawing';

const XLINK = 'http://www.w3.org/1999/xlink';

/**
 * Writes a drawing as an SVG with its logo embedded. It contains no user input to escape. The logo
 * is there twice, because Adobe Illustrator reads `xlink:href` only, which SVG 2 has deprecated.
 */
export function svgOf({ side, background, shapes, logo }: Drawing): string {
  const gradients: string[] = [];
  const paint = (fill: string | Gradient) => {
    if (typeof fill === 'string') return fill;
    gradients.push(gradientOf(fill, `g${gradients.length}`));
    return `url(#g${gradients.length - 1})`;
  };
  const paths = shapes.map(({ path, fill }) => `<path fill="${paint(fill)}" d="${path}"/>`);
  const image = logo
    ? `<image href="${logo.src}" xlink:href="${logo.src}" x="${logo.x}" y="${logo.y}" width="${logo.width}" height="${logo.height}" preserveAspectRatio="none"/>`
    : '';
  const defs = gradients.length > 0 ? `<defs>${gradients.join('')}</defs>` : '';
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="${XLINK}" width="${SIZE}" height="${SIZE}" viewBox="0 0 ${side} ${side}" role="img">` +
    `${defs}<path fill="${background}" d="M0 0H${side}V${side}H0Z"/>${paths.join('')}${image}</svg>`
  );
}

function gradientOf({ kind, from, to, colors }: Gradient, id: string): string {
  const stops = colors.map((color, at) => `<stop offset="${at}" stop-color="${color}"/>`).join('');
  const [[x1, y1], [x2, y2]] = [from, to];
  return kind === 'linear'
    ? `<linearGradient id="${id}" gradientUnits="userSpaceOnUse" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}">${stops}</linearGradient>`
    : `<radialGradient id="${id}" gradientUnits="userSpaceOnUse" cx="${x1}" cy="${y1}" r="${Math.hypot(x2 - x1, y2 - y1)}">${stops}</radialGradient>`;
}
