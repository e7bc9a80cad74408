/** Where the shapes of a chart are. Lengths are in the units of its SVG. */
import type { Drawing } from '../../components/Bars';

/** Of a step, what is left free between its bar and the next one. */
const FREE = 0.28;
/** How wide the bar that is looked at is at least, among bars that are too many to be seen apart. */
const LEAST = 4;

interface Size {
  width: number;
  height: number;
}

export interface Plot {
  /** How wide a step is with what is free beside its bar. */
  step: number;
  /** What each grid line stands for, and where it is. */
  lines: { value: number; y: number }[];
  /** The middle of a step. */
  middle: (index: number) => number;
  /** The step at a place, the nearest one where none is. */
  at: (x: number) => number;
  /** The shapes with one step looked at, or none. */
  draw: (looked: number | null) => Drawing;
}

/**
 * A bar for each value, and a line through the values of `before`, where there are any: below the
 * last line of a grid, or else the highest of all has the whole height.
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
  const bar = (index: number, width = step * (1 - FREE)) => {
    const value = values[index] ?? 0;
    if (value === 0) return '';
    // What is not nothing can be seen.
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
      looked: looked === null ? '' : bar(looked, Math.max(step * (1 - FREE), LEAST)),
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

/** The last one of the highest values; null where there is no value above 0. */
export function peakOf(values: readonly number[]): number | null {
  const highest = Math.max(0, ...values);
  return highest === 0 ? null : values.lastIndexOf(highest);
}

/** What grid lines stand for: whole numbers from 0 to one that nothing is above, at most so many. */
export function gridOf(
  values: readonly number[],
  before: readonly (number | null)[],
  most: number,
): number[] {
  const highest = highestOf(values, before);
  for (let count = Math.min(most - 1, highest); count > 1; count -= 1) {
    let step = 0;
    let last = highest;
    for (let next = roundStep(last, count); next !== step; next = roundStep(last, count)) {
      step = next;
      last = Math.ceil(last / step) * step;
    }
    const steps = last / step;
    if (steps < most && step >= 1) return Array.from({ length: steps + 1 }, (_, at) => at * step);
  }
  return [0, highest];
}

/** The length of about `count` steps up to `highest`: 1, 2 or 5 times a power of ten. */
function roundStep(highest: number, count: number): number {
  const length = highest / count;
  const power = 10 ** Math.floor(Math.log10(length));
  // The limits between them are the geometric means.
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
