/** The symbol of "1": one number per row, one bit per module. */
const ROWS = [
  0x1fc07f, 0x105241, 0x17465d, 0x174a5d, 0x175d5d, 0x104141, 0x1fd57f, 0x000300, 0x154612,
  0x0b1046, 0x06d511, 0x192046, 0x016557, 0x0016aa, 0x1fc2ef, 0x104bba, 0x1752ed, 0x174c46,
  0x175111, 0x104c44, 0x1fd155,
];
const MODULE = 12;
const FRAME = 30;

/** Pixels along a side. */
export const REHEARSED = ROWS.length * MODULE + 2 * FRAME;

/**
 * Returns an RGBA picture of a code that passes every distortion, to warm up the worker: after a
 * complete measurement, the next one is three times as fast.
 */
export function rehearsed(): Uint8ClampedArray {
  const pixels = new Uint8ClampedArray(REHEARSED * REHEARSED * 4).fill(255);
  ROWS.forEach((row, y) => {
    for (let x = 0; x < ROWS.length; x += 1) {
      if (!((row >> (ROWS.length - 1 - x)) & 1)) continue;
      for (let line = 0; line < MODULE; line += 1) {
        const top = FRAME + y * MODULE + line;
        const start = 4 * (top * REHEARSED + FRAME + x * MODULE);
        for (let at = start; at < start + 4 * MODULE; at += 4) pixels.fill(0, at, at + 3);
      }
    }
  });
  return pixels;
}
