import {
  askew,
  blurred,
  glaring,
  type Grey,
  greyOf,
  noisy,
  smaller,
  spread,
  worn,
} from './distort';
import { readGrey, readPixels } from './pixels';

/** How much a code bears: it is read again in its own picture as a camera may come to see it. */

export type Distortion = 'smaller' | 'spread' | 'worn' | 'askew' | 'blurred' | 'noisy' | 'glaring';

/** What was read in a picture, and the first distortion in which that was lost. */
export interface Measured {
  text: string | null;
  lost: Distortion | null;
}

/**
 * Those that tell most stand first, so that a verdict is soon settled. Each is more than the cameras
 * of tests/system/qr do to a code: other decoders bear less than this one. What of their needs no picture
 * tells, verdict.ts asks of the design.
 */
const trials: readonly (readonly [Distortion, (picture: Grey) => Grey])[] = [
  ['worn', (picture) => worn(picture, 2)],
  ['noisy', (picture) => noisy(picture, 30)],
  ['blurred', (picture) => blurred(picture, 9)],
  ['smaller', (picture) => smaller(picture, 0.3)],
  ['spread', (picture) => spread(picture, 1)],
  ['glaring', (picture) => glaring(picture, 0.65)],
  ['askew', (picture) => askew(picture, 12, 0.06)],
];

/** Milliseconds that the picture itself may be tried for. */
const LIMIT = 1_500;

/** Measures a square picture (RGBA), a reading a step, so that it can be left in between. */
export function* measure(pixels: Uint8ClampedArray, side: number): Generator<void, Measured> {
  const text = readPixels(pixels, side, LIMIT);
  if (text === null) return { text, lost: null };
  const picture = greyOf(pixels, side);
  for (const [lost, distorted] of trials) {
    yield;
    if (readGrey(distorted(picture)) !== text) return { text, lost };
  }
  return { text, lost: null };
}
