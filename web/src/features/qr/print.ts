import { messages } from './messages';

/** Millimetres along a side of a print: from what a phone can just read to a poster. */
const LEAST_WIDTH = 10;
const MOST_WIDTH = 1_000;

/** Thousands as `formatNumber` parts them: '1,000'. Any other comma is a decimal one. */
const GROUPED = /^\d{1,3}(?:,\d{3})+(?=$|\.)/;

/** What is said of a width that is none, or out of bounds. */
export const WIDTH_FAULT = messages.badWidth(LEAST_WIDTH, MOST_WIDTH);

/** What a person finds in the field of the width. */
export const FIRST_WIDTH = '50';

/** The millimetres of a width as people write them; null of what is none, or out of bounds. */
export function millimetresOf(text: string): number | null {
  const given = text.trim().replace(GROUPED, (whole) => whole.replaceAll(',', ''));
  const millimetres = given === '' ? Number.NaN : Number(given.replace(',', '.'));
  return millimetres >= LEAST_WIDTH && millimetres <= MOST_WIDTH ? millimetres : null;
}

/**
 * Pixels of a module from which three decoders read every photo that was measured, the best of them
 * from 2 on: tests/system/qr/margin.md, "Distance".
 */
const PIXELS = 3.5;

/** Pixels along the longer side of the frames that scanners look at: 1280 x 720 is what ML Kit asks for. */
const FRAME = 1_280;

/** The main camera of a phone sees as a lens of 26 mm does on a film 36 mm wide. */
const LENS = 26 / 36;

/**
 * Millimetres from which a phone reads a print of a code with so many modules along its side. A
 * thing as wide as w, from a distance of d, takes FRAME * LENS * w / d pixels of a frame (a pinhole
 * camera); the distance is the one at which PIXELS are left for a module.
 */
export function reachOf(millimetres: number, side: number): number {
  return (millimetres * FRAME * LENS) / (side * PIXELS);
}

/** The same as a person would say it, rounded down. */
export function reachWords(millimetres: number, side: number): string {
  const centimetres = Math.floor(reachOf(millimetres, side) / 10);
  const reach =
    centimetres < 100
      ? messages.centimetres(centimetres)
      : messages.metres(Math.floor(centimetres / 10) / 10);
  return messages.scanDistance(millimetres, reach);
}
