import { brightness, styleFault } from './colors';
import { type Design, sideOf, symbolOf } from './drawing';
import type { Distortion, Measured } from './margin';
import { inksOf, type Style } from './style';

/** What a check came to: what was read in the picture, or that the decoder did not load. */
export type Reading = { text: string | null } | 'unavailable';

/** The same of one that measured the margin, too. */
export type MarginReading = Measured | 'unavailable';

/** Why a code does not scan, or is not known to. */
export type Fault = 'inverted' | 'close' | 'dense' | 'unread' | 'unchecked' | 'checking';

/** `care`: it is read, but not as a camera may come to see it. */
export type Verdict = 'well' | 'care' | Fault;

/**
 * Pixels of a module below which the best of three decoders begins to lose photos. The other two
 * lose dense codes sooner: tests/system/qr/table.md, "Density".
 */
const LEAST_PIXELS = 4;

/**
 * What a code needs so that none of three decoders loses it with any of twelve cameras, beyond what
 * the page's own one tells: tests/system/qr/margin.md, "What the rules are worth". They
 * reckon from the eyes where each module lies, and some begin with one limit between dark and light,
 * whatever the lamp does.
 */
const ROOMY = {
  /** Pixels of a module. */
  pixels: 10,
  levelWithLogo: 'H',
  /** Brightness of the background. */
  background: 180,
  /** Of what the background is brighter than `above`, the share that an ink may have. */
  ink: { above: 120, share: 0.575 },
};

/** What leaves too little room for a bad print, bad light and a hand that shakes. */
export type Care = 'modules' | 'level' | 'eyes' | 'colors' | Distortion;

interface Drawn extends Design {
  /** Pixels along a side. */
  size: number;
}

/**
 * The first thing that keeps readers off, or null. Without a reading yet it is what can be told
 * without one, or that the check is under way.
 */
export function faultOf(drawn: Drawn, reading: Reading | undefined): Fault | null {
  const fault = styleFault(drawn.style);
  if (fault) return fault;
  if (pixelsOf(drawn) < LEAST_PIXELS) return 'dense';
  if (reading === undefined) return 'checking';
  if (reading === 'unavailable') return 'unchecked';
  return reading.text === drawn.text ? null : 'unread';
}

/** What leaves too little room, where nothing keeps readers off; null where nothing does. */
export function careOf(drawn: Drawn, { lost }: Measured): Care | null {
  const { style } = drawn;
  if (pixelsOf(drawn) < ROOMY.pixels) return 'modules';
  if (drawn.logo && symbolOf(drawn).level !== ROOMY.levelWithLogo) return 'level';
  if (style.eyeFrame.shape !== 'square' || style.eyeBall.shape === 'circle') return 'eyes';
  return hasPaleColors(style) ? 'colors' : lost;
}

/** Pixels of a module. */
function pixelsOf({ size, ...design }: Drawn): number {
  return size / sideOf(symbolOf(design).modules ?? 0, design.style);
}

function hasPaleColors(style: Style): boolean {
  const light = brightness(style.background);
  const lightest = Math.max(...inksOf(style).map(brightness));
  const { above, share } = ROOMY.ink;
  return light < ROOMY.background || lightest > share * (light - above);
}

/** What is said of a code. */
export function judge(drawn: Drawn, reading: MarginReading | undefined): Verdict {
  const fault = faultOf(drawn, reading);
  if (fault) return fault;
  return typeof reading === 'object' && careOf(drawn, reading) !== null ? 'care' : 'well';
}
