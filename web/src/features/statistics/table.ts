/** All statistics of a page, as CSV for spreadsheets. */
import type { Dimension, Statistics } from '../../api';
import { BOM, CSV_TYPE, csvLine, type Cell } from '../../lib/csv';
import { shortUrl } from '../../lib/config';
import { messages } from './messages';
import { dimensions, nameOf } from './names';
import type { Steps } from './steps';

const texts = messages.table;
const FIELDS = texts.fields;

/**
 * Returns the CSV file.
 *
 * `kind` says what a line is about: the total, the previous period, a step, or a name of a
 * breakdown. An empty cell means that there is no such figure.
 */
export function tableOf(statistics: Statistics, shown: Steps): Blob {
  const { range, totals, previous, top = [] } = statistics;
  const { kept_from: keptFrom } = statistics;
  const lines: Cell[][] = [
    [...FIELDS],
    [texts.timeZone, range.timezone],
    ...(keptFrom === undefined ? [] : [[texts.keptFrom, keptFrom]]),
    [
      texts.total,
      texts.range(range.from, range.to),
      totals.people,
      totals.visitors,
      totals.bots,
      previous?.people ?? null,
    ],
    ...(previous === null
      ? []
      : [[texts.previous, null, previous.people, previous.visitors, previous.bots]]),
    ...shown.steps.map((step) => [
      shown.length,
      step.start,
      step.people,
      step.visitors,
      step.bots,
      step.before,
    ]),
    ...dimensions.flatMap((key) =>
      namesOf(statistics, key).map(({ name, people }) => [messages.dimensions[key], name, people]),
    ),
    ...top.map(({ code, people }) => [messages.mostVisited, shortUrl(code), people]),
  ];
  const whole = lines.map((line) => [...line, ...FIELDS.map(() => null)].slice(0, FIELDS.length));
  return new Blob([BOM, ...whole.map(csvLine)], { type: CSV_TYPE });
}

function namesOf({ breakdowns }: Statistics, dimension: Dimension) {
  return breakdowns[dimension].map(({ name, people }) => ({
    name: nameOf(dimension, name),
    people,
  }));
}
