import { contours } from 'd3-contour';

/** The outline of a line of text, in arbitrary units. */
export interface Outline {
  width: number;
  height: number;
  /** Closed polygons. One inside another is a hole, with the opposite winding direction. */
  rings: (readonly [number, number])[][];
}

/** Font size in pixels at which the text is traced. */
const FONT_PIXELS = 120;
/** Maximum distance in pixels between a removed point and the simplified line. */
const TOLERANCE = 0.15;
/** Cap height, and distance of the baseline from the top, as shares of the font size. */
const CAP_HEIGHT = 0.7;
const BASELINE = 1.4;
/** Alpha, of 255, from which a pixel counts as ink. */
const MIN_ALPHA = 127.5;

let latest: { text: string; outline: Outline } | undefined;

/**
 * Returns a text as polygons, traced from what the browser draws. So every script works, and the
 * text looks the same in every file, whatever fonts are installed where it is opened.
 */
export function outlineOf(text: string): Outline {
  if (latest?.text !== text) latest = { text, outline: trace(text) };
  return latest.outline;
}

/**
 * Waits for the page's own font, the first of the family list. If it does not load, the text is
 * traced in a fallback font. Those are not loaded: the browser has them or rejects them.
 */
export async function loadFont(): Promise<void> {
  const [own = font()] = font().split(',');
  try {
    await document.fonts.load(own);
  } catch (error) {
    console.error('The letters did not load', error);
  }
}

function font(): string {
  const { fontFamily } = getComputedStyle(document.body);
  return `700 ${FONT_PIXELS}px ${fontFamily}`;
}

function trace(text: string): Outline {
  const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (!pen) throw new Error('Nothing can be drawn');
  pen.font = font();
  const width = Math.ceil(pen.measureText(text).width) + FONT_PIXELS;
  const height = 2 * FONT_PIXELS;
  pen.canvas.width = width;
  pen.canvas.height = height;
  // Setting the size of a canvas resets its font.
  pen.font = font();
  pen.textBaseline = 'alphabetic';
  pen.fillText(text, FONT_PIXELS / 2, BASELINE * FONT_PIXELS);
  const { data } = pen.getImageData(0, 0, width, height);
  const alpha = Float32Array.from({ length: width * height }, (_, at) => data[4 * at + 3] ?? 0);
  const shapes = contours().size([width, height]).contour(Array.from(alpha), MIN_ALPHA).coordinates;
  const rings = shapes
    .flat()
    .map((points) => simplify(points.map(([x = 0, y = 0]) => [x, y] as const)));
  return cropped(rings);
}

/** Crops to the width of the text and the cap height. Descenders do not change the box. */
function cropped(rings: Outline['rings']): Outline {
  const xs = rings.flatMap((ring) => ring.map(([x]) => x));
  const left = xs.reduce((one, other) => Math.min(one, other), Infinity);
  const right = xs.reduce((one, other) => Math.max(one, other), -Infinity);
  return {
    width: Math.max(1, right - left),
    height: CAP_HEIGHT * FONT_PIXELS,
    rings: rings.map((ring) =>
      ring.map(([x, y]) => [x - left, y - (BASELINE - CAP_HEIGHT) * FONT_PIXELS] as const),
    ),
  };
}

type Points = Outline['rings'][number];

/** Removes points that hardly change a line (Douglas-Peucker algorithm). */
function simplify(points: Points): Points {
  const kept = new Set([0, points.length - 1]);
  const spans: [number, number][] = [[0, points.length - 1]];
  for (let span = spans.pop(); span; span = spans.pop()) {
    const [first, last] = span;
    let farthest = 0;
    let distance = TOLERANCE;
    for (let at = first + 1; at < last; at += 1) {
      const away = distanceFrom(points, first, last, at);
      if (away > distance) [farthest, distance] = [at, away];
    }
    if (farthest > 0) {
      kept.add(farthest);
      spans.push([first, farthest], [farthest, last]);
    }
  }
  return points.filter((_, at) => kept.has(at));
}

/** Returns the distance of a point from the line through two others, or from both if equal. */
function distanceFrom(points: Points, first: number, last: number, at: number): number {
  const [[x1, y1], [x2, y2], [x, y]] = [first, last, at].map((one) => points[one] ?? [0, 0]) as [
    [number, number],
    [number, number],
    [number, number],
  ];
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length === 0) return Math.hypot(x - x1, y - y1);
  return Math.abs((x2 - x1) * (y1 - y) - (x1 - x) * (y2 - y1)) / length;
}
