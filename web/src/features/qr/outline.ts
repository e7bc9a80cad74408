import { contours } from 'd3-contour';

/** The outline of a line of text, in units of its own. */
export interface Outline {
  width: number;
  height: number;
  /** Closed polygons; what lies in one inside another is a hole, and turns the other way. */
  rings: (readonly [number, number])[][];
}

/** Pixels of the letters that are traced. */
const TRACED = 120;
/** Pixels that a point may lie beside the line between its neighbours and yet be left out. */
const TOLERANCE = 0.15;
/** The height of capitals, and of the line they stand on: shares of the size. */
const CAPITALS = 0.7;
const BASE = 1.4;
/** Of 255, from where on a pixel is ink. */
const INK = 127.5;

let latest: { text: string; outline: Outline } | undefined;

/**
 * The letters of a text as polygons. They come from the browser, which knows every script, and so
 * the words look the same in every file, whatever fonts are where it is opened.
 */
export function outlineOf(text: string): Outline {
  if (latest?.text !== text) latest = { text, outline: trace(text) };
  return latest.outline;
}

/**
 * Waits for the letters of the page's own face; with others where it does not come. Of the others,
 * a browser has some and refuses the rest.
 */
export async function loadLetters(): Promise<void> {
  const [own = font()] = font().split(',');
  try {
    await document.fonts.load(own);
  } catch (error) {
    console.error('The letters did not load', error);
  }
}

function font(): string {
  const { fontFamily } = getComputedStyle(document.body);
  return `700 ${TRACED}px ${fontFamily}`;
}

function trace(text: string): Outline {
  const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (!pen) throw new Error('Nothing can be drawn');
  pen.font = font();
  const width = Math.ceil(pen.measureText(text).width) + TRACED;
  const height = 2 * TRACED;
  pen.canvas.width = width;
  pen.canvas.height = height;
  // The size took the font away.
  pen.font = font();
  pen.textBaseline = 'alphabetic';
  pen.fillText(text, TRACED / 2, BASE * TRACED);
  const { data } = pen.getImageData(0, 0, width, height);
  const alpha = Float32Array.from({ length: width * height }, (_, at) => data[4 * at + 3] ?? 0);
  const shapes = contours().size([width, height]).contour(Array.from(alpha), INK).coordinates;
  const rings = shapes
    .flat()
    .map((points) => simplify(points.map(([x = 0, y = 0]) => [x, y] as const)));
  return cropped(rings);
}

/** In a box as wide as the text, and as high as capitals: what hangs below it changes nothing. */
function cropped(rings: Outline['rings']): Outline {
  const xs = rings.flatMap((ring) => ring.map(([x]) => x));
  const left = xs.reduce((one, other) => Math.min(one, other), Infinity);
  const right = xs.reduce((one, other) => Math.max(one, other), -Infinity);
  return {
    width: Math.max(1, right - left),
    height: CAPITALS * TRACED,
    rings: rings.map((ring) =>
      ring.map(([x, y]) => [x - left, y - (BASE - CAPITALS) * TRACED] as const),
    ),
  };
}

type Points = Outline['rings'][number];

/** Douglas and Peucker's: leaves out points that hardly change a line. */
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

/** Of a point from the line between two others, or from the one where both are the same. */
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
