/** Where the shapes of a chart are. Lengths are in the units of its SVG. */
import { scaleBand, scaleLinear } from 'd3-scale';
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
  const y = scaleLinear()
    .domain([0, grid.at(-1) ?? highestOf(values, before)])
    .range([height, 0]);
  const x = scaleBand<number>()
    .domain(values.map((_, index) => index))
    .range([0, width])
    .paddingInner(FREE)
    .paddingOuter(FREE / 2);

  const middle = (index: number) => (x(index) ?? 0) + x.bandwidth() / 2;
  const bar = (index: number, width = x.bandwidth()) => {
    const value = values[index] ?? 0;
    if (value === 0) return '';
    // What is not nothing can be seen.
    const top = short(Math.min(y(value), height - 1));
    const left = short(middle(index) - width / 2);
    return `M${left} ${short(height)}V${top}h${short(width)}V${short(height)}z`;
  };

  return {
    step: x.step(),
    lines: grid.map((value) => ({ value, y: y(value) })),
    middle,
    at: (place) => Math.max(0, Math.min(values.length - 1, Math.floor(place / x.step()))),
    draw: (looked) => ({
      bars: values.map((_, index) => (index === looked ? '' : bar(index))).join(''),
      looked: looked === null ? '' : bar(looked, Math.max(x.bandwidth(), LEAST)),
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
    const lines = scaleLinear().domain([0, highest]).nice(count).ticks(count);
    if (lines.length <= most && lines.every(Number.isInteger)) return lines;
  }
  return [0, highest];
}

function highestOf(values: readonly number[], before: readonly (number | null)[]): number {
  return Math.max(1, ...values, ...before.map((value) => value ?? 0));
}

function short(length: number): string {
  return String(Math.round(length * 10) / 10);
}
