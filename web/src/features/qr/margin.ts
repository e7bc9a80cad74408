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

/** Measures the scan margin of a code: reads it again under simulated print and camera defects. */

export type Distortion = 'smaller' | 'spread' | 'worn' | 'askew' | 'blurred' | 'noisy' | 'glaring';

/**
 * The text read in a picture, null if it is unreadable, and the first distortion under which the
 * text could not be read, null if there is none.
 */
export interface Measurement {
  text: string | null;
  lost: Distortion | null;
}

/**
 * The distortions, the most selective first, so that a weak code is found early. Each is stronger
 * than what the cameras of tests/system/qr do to a code, because other decoders tolerate less than
 * this one. verdict.ts checks the requirements of other decoders that no picture shows.
 */
const distortions: readonly (readonly [Distortion, (picture: Grey) => Grey])[] = [
  ['worn', (picture) => worn(picture, 2)],
  ['noisy', (picture) => noisy(picture, 30)],
  ['blurred', (picture) => blurred(picture, 9)],
  ['smaller', (picture) => smaller(picture, 0.3)],
  ['spread', (picture) => spread(picture, 1)],
  ['glaring', (picture) => glaring(picture, 0.65)],
  ['askew', (picture) => askew(picture, 12, 0.06)],
];

/** Time limit for decoding the undistorted picture. */
const TIME_LIMIT_MS = 1_500;

/** Measures a square RGBA picture. Yields between readings, so that the caller can stop early. */
export function* measure(pixels: Uint8ClampedArray, side: number): Generator<void, Measurement> {
  const text = readPixels(pixels, side, TIME_LIMIT_MS);
  if (text === null) return { text, lost: null };
  const picture = greyOf(pixels, side);
  for (const [lost, distorted] of distortions) {
    yield;
    if (readGrey(distorted(picture)) !== text) return { text, lost };
  }
  return { text, lost: null };
}
