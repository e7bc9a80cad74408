import { brightness, styleFault } from './colors';
import { type Design, sideOf, symbolOf } from './drawing';
import type { Distortion, Measurement } from './margin';
import { inksOf, type Style } from './style';

/** The result of a check: the text, null if unreadable; `unavailable` without a decoder. */
export type Reading = { text: string | null } | 'unavailable';

/** The result of a check that also measured the scan margin. */
export type MarginReading = Measurement | 'unavailable';

/** Why a code does not scan, or why that is unknown. */
export type Fault = 'inverted' | 'close' | 'dense' | 'unread' | 'unchecked' | 'checking';

/** `care`: the code can be read, but with too little margin for bad prints and cameras. */
export type Verdict = 'well' | 'care' | Fault;

/**
 * Pixels per module below which the best of three decoders begins to fail on photos. The other two
 * fail on dense codes sooner: tests/system/qr/table.md, "Density".
 */
const MIN_MODULE_PIXELS = 4;

/**
 * Requirements that the page's own decoder does not show. Three decoders read codes that meet them,
 * and have enough scan margin, with each of twelve cameras: tests/system/qr/margin.md, "What the
 * rules are worth". They derive the position of each module from the finder patterns, and some
 * start with one threshold between dark and light, whatever the lighting.
 */
const REQUIREMENTS = {
  /** Minimum pixels per module. */
  pixels: 10,
  levelWithLogo: 'H',
  /** Minimum brightness of the background. */
  background: 180,
  /** Maximum brightness of an ink: this share of how far the background exceeds `above`. */
  ink: { above: 120, share: 0.575 },
};

/** Why a code has too little margin for a bad print, bad light and camera shake. */
export type CareReason = 'modules' | 'level' | 'eyes' | 'colors' | Distortion;

interface SizedDesign extends Design {
  /** Pixels along a side. */
  size: number;
}

/**
 * Returns the first fault that prevents scanning, or null. Without a reading, checks the design
 * only, and returns `checking` if it has no fault.
 */
export function faultOf(drawn: SizedDesign, reading: Reading | undefined): Fault | null {
  const fault = styleFault(drawn.style);
  if (fault) return fault;
  if (pixelsOf(drawn) < MIN_MODULE_PIXELS) return 'dense';
  if (reading === undefined) return 'checking';
  if (reading === 'unavailable') return 'unchecked';
  return reading.text === drawn.text ? null : 'unread';
}

/** Returns why a code without a fault has too little margin; null if it has enough. */
export function careOf(drawn: SizedDesign, { lost }: Measurement): CareReason | null {
  const { style } = drawn;
  if (pixelsOf(drawn) < REQUIREMENTS.pixels) return 'modules';
  if (drawn.logo && symbolOf(drawn).level !== REQUIREMENTS.levelWithLogo) return 'level';
  if (style.eyeFrame.shape !== 'square' || style.eyeBall.shape === 'circle') return 'eyes';
  return hasLowContrast(style) ? 'colors' : lost;
}

/** Returns the pixels per module. */
function pixelsOf({ size, ...design }: SizedDesign): number {
  return size / sideOf(symbolOf(design).modules ?? 0, design.style);
}

function hasLowContrast(style: Style): boolean {
  const light = brightness(style.background);
  const lightest = Math.max(...inksOf(style).map(brightness));
  const { above, share } = REQUIREMENTS.ink;
  return light < REQUIREMENTS.background || lightest > share * (light - above);
}

/** Returns the verdict on a code. */
export function judge(drawn: SizedDesign, reading: MarginReading | undefined): Verdict {
  const fault = faultOf(drawn, reading);
  if (fault) return fault;
  return typeof reading === 'object' && careOf(drawn, reading) !== null ? 'care' : 'well';
}
