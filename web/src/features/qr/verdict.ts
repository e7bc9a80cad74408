import { styleFault } from './colors';
import type { Style } from './style';

/** What a check came to: what was read in the picture, or that the decoder did not load. */
export type Reading = { text: string | null } | 'unavailable';

export type Verdict =
  'scans' | 'inverted' | 'close' | 'dense' | 'unread' | 'unchecked' | 'checking';

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
 * The first thing that keeps readers off, or that all is well. Without a reading yet it is what can
 * be told without one, or that the check is under way.
 */
export function judge({ text, style, side, size }: Drawn, reading: Reading | undefined): Verdict {
  const fault = styleFault(style);
  if (fault) return fault;
  if (size / side < LEAST_PIXELS) return 'dense';
  if (reading === undefined) return 'checking';
  if (reading === 'unavailable') return 'unchecked';
  return reading.text === text ? 'scans' : 'unread';
}
