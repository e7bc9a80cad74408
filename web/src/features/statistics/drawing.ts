/** Geometry of charts. Lengths are in the units of their SVG. */
import type { Drawing } from '../../components/Bars';

/** Gap between two bars, as a share of a step. */
const GAP = 0.28;
/** Minimum width of the highlighted bar, for bars that are too many to be told apart. */
const MIN_WIDTH = 4;

interface Size {
  width: number;
  height: number;
}

export interface Plot {
  /** Width of a step, including the gap. */
  step: number;
  /** Value and position of each grid line. */
  lines: { value: number; y: number }[];
  /** Returns the center of a step. */
  middle: (index: number) => number;
  /** Returns the index of the step at a position, or the nearest one. */
  at: (x: number) => number;
  /** Returns the shapes with one highlighted step, or none. */
  draw: (looked: number | null) => Drawing;
}

/**
 * Lays out a bar for each value, and a line through the values of `before` if there are any.
 *
 * The chart reaches up to the last value of `grid`, or without a grid to the highest value of all.
 */
export function plot(
  values: readonly number[],
  before: readonly (number | null)[],
  { width, height }: Size,
  grid: readonly number[] = [],
): Plot {
  const top = grid.at(-1) ?? highestOf(values, before);
  const y = (value: number) => height * (1 - value / top);
  const step = width / Math.max(1, values.length);
  const middle = (index: number) => step * (index + 0.5);
  const bar = (index: number, width = step * (1 - GAP)) => {
    const value = values[index] ?? 0;
    if (value === 0) return '';
    // A value above 0 is always visible.
    const high = short(Math.min(y(value), height - 1));
    const left = short(middle(index) - width / 2);
    return `M${left} ${short(height)}V${high}h${short(width)}V${short(height)}z`;
  };

  return {
    step,
    lines: grid.map((value) => ({ value, y: y(value) })),
    middle,
    at: (place) => Math.max(0, Math.min(values.length - 1, Math.floor(place / step))),
    draw: (looked) => ({
      bars: values.map((_, index) => (index === looked ? '' : bar(index))).join(''),
      looked: looked === null ? '' : bar(looked, Math.max(step * (1 - GAP), MIN_WIDTH)),
      before: before
        .map((value, index) => {
          if (value === null) return '';
          const last = before[index - 1];
          const place = `${short(middle(index))} ${short(y(value))}`;
          return last === null || last === undefined ? `M${place}h0` : `L${place}`;
        })
        .join(''),
    }),
  };
}

/** Returns the index of the last of the highest values, or null if no value is above 0. */
export function peakOf(values: readonly number[]): number | null {
  const highest = Math.max(0, ...values);
  return highest === 0 ? null : values.lastIndexOf(highest);
}

/**
 * Returns the values of at most `max` grid lines: whole numbers from 0 to at least the highest
 * value.
 */
export function gridOf(
  values: readonly number[],
  before: readonly (number | null)[],
  max: number,
): number[] {
  const highest = highestOf(values, before);
  for (let count = Math.min(max - 1, highest); count > 1; count -= 1) {
    let step = 0;
    let last = highest;
    for (let next = roundStep(last, count); next !== step; next = roundStep(last, count)) {
      step = next;
      last = Math.ceil(last / step) * step;
    }
    const steps = last / step;
    if (steps < max && step >= 1) return Array.from({ length: steps + 1 }, (_, at) => at * step);
  }
  return [0, highest];
}

/** Returns the length of about `count` steps up to `highest`: 1, 2 or 5 times a power of ten. */
function roundStep(highest: number, count: number): number {
  const length = highest / count;
  const power = 10 ** Math.floor(Math.log10(length));
  // The limits between two factors are their geometric means.
  const factor = [10, 5, 2].find(
    (one, at) => length / power >= Math.sqrt(one * ([5, 2, 1][at] ?? 1)),
  );
  return power * (factor ?? 1);
}

function highestOf(values: readonly number[], before: readonly (number | null)[]): number {
  return Math.max(1, ...values, ...before.map((value) => value ?? 0));
}

function short(length: number): string {
  return String(Math.round(length * 10) / 10);
}
