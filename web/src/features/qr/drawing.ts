import { type Modules, modulesOf } from './modules';
import type { Outline } from './outline';
import { type BallShape, type EyePart, marginOf, type ModuleShape, type Style } from './style';
import { type QrSymbol, symbolFor } from './symbol';

/** Pixels along a side of the canvas, and of a saved PNG by default. */
export const SIZE = 400;

/** The logo in the center. Width and height are in pixels of a canvas of `SIZE`. */
export interface Logo {
  /** A data URL. */
  src: string;
  width: number;
  height: number;
}

/** Everything that a code is drawn from. */
export interface Design {
  text: string;
  style: Style;
  logo: Logo | undefined;
}

/** A color, or a gradient between two. */
export type Fill = string | Gradient;

/** Linear from one point to the other, or radial around the first and through the other. */
export interface Gradient {
  kind: 'linear' | 'radial';
  from: Point;
  to: Point;
  colors: [string, string];
}

export type Point = readonly [x: number, y: number];

/** A filled path: commands M, L, C and Z in absolute coordinates, with the nonzero winding rule. */
export interface Shape {
  path: string;
  fill: Fill;
}

/** A vector picture that every file format is written from. The unit is one module. */
export interface Drawing {
  /** Units along a side. */
  side: number;
  background: string;
  shapes: Shape[];
  logo: { src: string; x: number; y: number; width: number; height: number } | undefined;
}

export function symbolOf({ text, style, logo }: Design): QrSymbol {
  return symbolFor(text, logo !== undefined, style.level);
}

/** Returns the units along a side of a drawing, with the quiet zone and the frame. */
export function sideOf(modules: number, style: Style): number {
  const code = modules + 2 * marginOf(style);
  return style.caption === null ? code : rounded(code * (1 + EDGE + BAND));
}

/** Draws a design, whose text must fit. `caption` is the outline of its caption, if it has one. */
export function drawDesign(design: Design, caption?: Outline): Drawing {
  return draw(modulesOf(design.text, symbolOf(design)), design.style, design.logo, caption);
}

/** Draws modules in a style. */
export function draw(
  modules: Modules,
  style: Style,
  logo: Logo | undefined,
  caption?: Outline,
): Drawing {
  const count = modules.length;
  const margin = marginOf(style);
  const side = sideOf(count, style);
  const around = count + 2 * margin;
  const at: Point = [(side - around) / 2 + margin, (side > around ? around * EDGE : 0) + margin];
  const placed = logo && place(logo, count, around);
  const ink = inkOf(style, at, count);

  const shapes: Shape[] = [];
  const add = (path: string, fill: Fill) => {
    const last = shapes.at(-1);
    if (last?.fill === fill) last.path += path;
    else shapes.push({ path, fill });
  };
  add(bodyOf(placed ? excavated(modules, placed) : modules, style.modules, at), ink);
  for (const part of ['eyeFrame', 'eyeBall'] as const) {
    add(eyesOf(part, style[part], at, count), style[part].color ?? ink);
  }
  if (style.caption !== null) {
    add(frameOf(side, around), style.foreground);
    if (caption) add(captionOf(caption, side, around), style.background);
  }
  return {
    side,
    background: style.background,
    shapes,
    logo: logo && placed && { ...placed, src: logo.src, x: placed.x + at[0], y: placed.y + at[1] },
  };
}

/** Returns the foreground fill. A gradient runs along the diagonal, or from center to corners. */
function inkOf({ foreground, second }: Style, [x, y]: Point, count: number): Fill {
  if (!second) return foreground;
  const { kind, color } = second;
  const start = kind === 'linear' ? 0 : count / 2;
  return {
    kind,
    from: [x + start, y + start],
    to: [x + count, y + count],
    colors: [foreground, color],
  };
}

// Modules.

/** Modules along a side of an eye (finder pattern). */
const EYE = 7;

function isEye(x: number, y: number, count: number): boolean {
  const far = count - EYE;
  return (x < EYE && (y < EYE || y >= far)) || (x >= far && y < EYE);
}

/** Returns the path of the dark modules outside the eyes. */
function bodyOf(modules: Modules, shape: ModuleShape, at: Point): string {
  const count = modules.length;
  const dark = (x: number, y: number) => modules[y]?.[x] === true && !isEye(x, y, count);
  const parts: string[] = [];
  for (let y = 0; y < count; y += 1) {
    for (let x = 0; x < count; x += 1) {
      if (!dark(x, y)) continue;
      const [left, top] = [at[0] + x, at[1] + y];
      if (shape === 'square') {
        let end = x + 1;
        while (dark(end, y)) end += 1;
        parts.push(box(left, top, end - x, 1));
        x = end;
      } else if (shape === 'dots') {
        parts.push(box(left, top, 1, 1, 0.5));
      } else {
        parts.push(box(left, top, 1, 1, freeCorners(dark, x, y)));
      }
    }
  }
  return parts.join('');
}

/** Returns the radii of a rounded module: corners without a dark neighbor are round. */
function freeCorners(dark: (x: number, y: number) => boolean, x: number, y: number): Corners {
  const [up, right, down, left] = [dark(x, y - 1), dark(x + 1, y), dark(x, y + 1), dark(x - 1, y)];
  const round = (one: boolean, other: boolean) => (one || other ? 0 : 0.5);
  return [round(up, left), round(up, right), round(down, right), round(down, left)];
}

// Eyes: the finder patterns.

/**
 * The radius of a rounded frame and ball, 7 and 3 modules wide: tests/system/qr/table.md, "Styles".
 */
const ROUNDED = { eyeFrame: 1, eyeBall: 0.5 };

function eyesOf(part: 'eyeFrame' | 'eyeBall', { shape }: EyePart, at: Point, count: number) {
  const far = count - EYE;
  const places: Point[] = [
    [0, 0],
    [far, 0],
    [0, far],
  ];
  return places
    .map(([x, y]) => {
      const [left, top] = [at[0] + x, at[1] + y];
      const radius = (width: number) => radiusOf(shape, width, ROUNDED[part]);
      if (part === 'eyeBall') return box(left + 2, top + 2, 3, 3, radius(3));
      const outer = radius(EYE);
      return ring([left, top, EYE, EYE, outer], [left + 1, top + 1, 5, 5, Math.max(0, outer - 1)]);
    })
    .join('');
}

function radiusOf(shape: BallShape, width: number, rounded: number): number {
  return { square: 0, rounded, circle: width / 2 }[shape];
}

// Logo.

interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Centers the logo in the code. Its size is a share of the code with its quiet zone. */
function place(logo: Logo, count: number, around: number): Rect {
  const width = (logo.width * around) / SIZE;
  const height = (logo.height * around) / SIZE;
  return { x: (count - width) / 2, y: (count - height) / 2, width, height };
}

/** Clears every module that the logo covers, even in part. */
function excavated(modules: Modules, { x, y, width, height }: Rect): Modules {
  const within = (module: number, start: number, length: number) =>
    module >= Math.floor(start) && module < Math.ceil(start + length);
  return modules.map((row, top) =>
    within(top, y, height) ? row.map((dark, left) => dark && !within(left, x, width)) : row,
  );
}

// Frame: an edge around the code and a band below it for the caption, both as shares of the code
// with its quiet zone.

const EDGE = 0.04;
const BAND = 0.2;
/** Maximum size of the caption: shares of the band's height and the frame's width. */
const CAPTION_SHARE = { height: 0.44, width: 0.88 };

function frameOf(side: number, around: number): string {
  const edge = around * EDGE;
  return ring([0, 0, side, side, 1.5 * edge], [edge, edge, side - 2 * edge, around, edge / 2]);
}

function captionOf({ width, height, rings }: Outline, side: number, around: number): string {
  const [room, high] = [side * CAPTION_SHARE.width, around * BAND];
  const scale = Math.min(room / width, (high * CAPTION_SHARE.height) / height);
  const left = (side - width * scale) / 2;
  const top = side - high + (high - height * scale) / 2;
  return rings
    .map((points) => {
      const placed = points.map(([x, y]) => pair(left + x * scale, top + y * scale));
      return `M${placed.join('L')}Z`;
    })
    .join('');
}

// Paths.

/** Corner radii, clockwise from the upper left. */
type Corners = readonly [number, number, number, number];
type Box = readonly [x: number, y: number, width: number, height: number, radius: number];

/** Handle length of a cubic Bézier curve that approximates a quarter circle of radius 1. */
const KAPPA = 0.5523;

/** Rounds to 1/1000 of a module: off by less than a tenth of a pixel in a PNG of 3200 pixels. */
const rounded = (value: number) => Math.round(value * 1_000) / 1_000;
const pair = (x: number, y: number) => `${rounded(x)} ${rounded(y)}`;

/** Returns the area between two boxes. The inner one is wound in reverse, so it is a hole. */
function ring(outer: Box, inner: Box): string {
  return box(...outer) + box(...inner, true);
}

function box(
  x: number,
  y: number,
  width: number,
  height: number,
  radius: number | Corners = 0,
  reversed = false,
): string {
  const [tl, tr, br, bl] =
    typeof radius === 'number' ? ([radius, radius, radius, radius] as const) : radius;
  const [right, bottom] = [x + width, y + height];
  // For each corner: the point itself, and where its curve begins and ends.
  const corners: [Point, Point, Point][] = [
    [
      [right, y],
      [right - tr, y],
      [right, y + tr],
    ],
    [
      [right, bottom],
      [right, bottom - br],
      [right - br, bottom],
    ],
    [
      [x, bottom],
      [x + bl, bottom],
      [x, bottom - bl],
    ],
    [
      [x, y],
      [x, y + tl],
      [x + tl, y],
    ],
  ];
  const turned = reversed
    ? corners.toReversed().map(([point, start, end]) => [point, end, start] as const)
    : corners;
  let path = '';
  let before = '';
  for (const [point, start, end] of turned) {
    const from = pair(...start);
    if (from !== before) path += `${path === '' ? 'M' : 'L'}${from}`;
    before = pair(...end);
    if (before !== from) {
      path += `C${toward(start, point)} ${toward(end, point)} ${before}`;
    }
  }
  return `${path}Z`;
}

function toward([x, y]: Point, [toX, toY]: Point): string {
  return pair(x + (toX - x) * KAPPA, y + (toY - y) * KAPPA);
}
