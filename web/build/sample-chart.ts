import type { Plugin } from 'vite';
import { peakOf, plot } from '../src/features/statistics/drawing.ts';

const NAME = 'virtual:sample-chart';
const PEOPLE = [18, 26, 22, 38, 30, 52, 44, 62, 58, 92, 70];
const BEFORE = [22, 20, 28, 24, 34, 30, 42, 36, 48, 40, 52];
/** Multiples of the values and of their number, so that the drawing contains short numbers. */
const SIZE = { width: 275, height: 138 };

/**
 * Vite plugin that draws the chart of the home page with the product's own code.
 *
 * It is drawn while the pages are built, so that the page does not load the code that draws it.
 */
export function sampleChart(): Plugin {
  const resolved = `\0${NAME}`;
  return {
    name: 'atajo:sample-chart',
    resolveId: (id) => (id === NAME ? resolved : undefined),
    load: (id) => {
      if (id !== resolved) return undefined;
      const { draw } = plot(PEOPLE, BEFORE, SIZE);
      return `export default ${JSON.stringify(draw(peakOf(PEOPLE)))};`;
    },
  };
}
