import { formatNumber } from '../../lib/format';
import { messages } from './messages';

/** Bounds of the print width: from the smallest that a phone can read to a poster. */
const MIN_WIDTH_MM = 10;
const MAX_WIDTH_MM = 1_000;

/** The thousands separator of the visitor's region: ',' in '10,000'. */
const SEPARATOR = formatNumber(10_000).replace(/\d/g, '');

/** Digits in groups of three. Keyboards have a space and ' for the separators of some regions. */
const THOUSANDS = new RegExp(`^\\d{1,3}(?:[${SEPARATOR}\\s'’]\\d{3})+(?=$|[.,])`);

/** The error message for a width that is not a number or out of bounds. */
export const WIDTH_FAULT = messages.badWidth(MIN_WIDTH_MM, MAX_WIDTH_MM);

/** Initial value of the width field, in millimeters. */
export const DEFAULT_WIDTH = '50';

/**
 * Parses a width in millimeters. Returns null if it is not a number or out of bounds. A comma or
 * period that separates no thousands is decimal.
 */
export function millimetresOf(text: string): number | null {
  const given = text.trim().replace(THOUSANDS, (whole) => whole.replace(/\D/g, ''));
  const millimetres = given === '' ? Number.NaN : Number(given.replace(',', '.'));
  return millimetres >= MIN_WIDTH_MM && millimetres <= MAX_WIDTH_MM ? millimetres : null;
}

/**
 * Pixels per module from which three decoders read every photo that was measured; the best of them
 * needs 2: tests/system/qr/margin.md, "Distance".
 */
const PIXELS_PER_MODULE = 3.5;

/** Pixels along the longer side of a scanner's camera frame: ML Kit requests 1280 x 720. */
const FRAME_PIXELS = 1_280;

/** Focal length by sensor width of a phone's main camera: a 26 mm lens on film 36 mm wide. */
const LENS = 26 / 36;

/**
 * Returns the maximum distance, in millimeters, from which a phone scans a print. `side` is in
 * modules and includes the quiet zone and the frame.
 *
 * An object of width w at distance d covers FRAME_PIXELS * LENS * w / d pixels of a frame (pinhole
 * camera). At the returned distance a module covers PIXELS_PER_MODULE.
 */
export function reachOf(millimetres: number, side: number): number {
  return (millimetres * FRAME_PIXELS * LENS) / (side * PIXELS_PER_MODULE);
}

/** Returns a sentence with the scan distance, rounded down to 1 cm, or to 10 cm from 1 m on. */
export function reachWords(millimetres: number, side: number): string {
  const centimetres = Math.floor(reachOf(millimetres, side) / 10);
  const reach =
    centimetres < 100
      ? messages.centimetres(centimetres)
      : messages.metres(Math.floor(centimetres / 10) / 10);
  return messages.scanDistance(millimetres, reach);
}
