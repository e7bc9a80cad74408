import { styleFault } from './colors';
import type { Measured } from './margin';
import type { Style } from './style';

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
 * lose dense codes sooner: tests/qr/table.md, "Density" (make qr-table).
 */
const LEAST_PIXELS = 4;

interface Drawn {
  text: string;
  style: Style;
  /** Modules along a side, the margin and the frame included. */
  side: number;
  /** Pixels along a side. */
  size: number;
}

/**
 * The first thing that keeps readers off, or null. Without a reading yet it is what can be told
 * without one, or that the check is under way.
 */
export function faultOf(
  { text, style, side, size }: Drawn,
  reading: Reading | undefined,
): Fault | null {
  const fault = styleFault(style);
  if (fault) return fault;
  if (size / side < LEAST_PIXELS) return 'dense';
  if (reading === undefined) return 'checking';
  if (reading === 'unavailable') return 'unchecked';
  return reading.text === text ? null : 'unread';
}

/** The same, and where nothing keeps readers off, how much room there is. */
export function judge(drawn: Drawn, reading: MarginReading | undefined): Verdict {
  const fault = faultOf(drawn, reading);
  if (fault) return fault;
  return typeof reading === 'object' && reading.lost !== null ? 'care' : 'well';
}
