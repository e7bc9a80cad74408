/** Steps of a period as the page names them, each with the same step of the previous period. */
import type { Dates, Span, Statistics } from '../../api';
import {
  addDays,
  countDays,
  nameDayShort,
  nameMonth,
  nameMonthShort,
  nameWeekday,
} from '../../lib/calendar';
import { messages } from './messages';
import { nameSpan } from './spans';

type StepLength = Statistics['range']['step'];

export interface Step {
  /** ISO 8601 in the time zone; unique. */
  start: string;
  /** 'Sun 22 Nov 2026'. */
  name: string;
  people: number;
  bots: number;
  /** Daily visitors; null for hours, and for days on which they were not counted. */
  visitors: number | null;
  /** People of the same step of the previous period; null if there is none or it is unknown. */
  before: number | null;
}

export interface Steps {
  length: StepLength;
  steps: Step[];
  /** Distance to the same step of the previous period: '30 days'; null if there is none. */
  distance: string | null;
}

const dayOf = (start: string) => start.slice(0, 10);
const hourOf = (start: string) => start.slice(11, 13);

/** Returns the days of the previous period, or null if there is none. */
export function datesBefore({ range, previous }: Statistics, span: Span): Dates | null {
  if (previous === null) return null;
  const shift = -shiftOf(range, span);
  return { from: addDays(range.from, shift), to: addDays(range.to, shift) };
}

/** Returns the steps of a period. `before` are the statistics of `datesBefore`, once known. */
export function stepsOf(statistics: Statistics, before: Statistics | undefined, span: Span): Steps {
  const { range, series } = statistics;
  const shift = shiftOf(range, span);
  // Match days and hours by their names: one period may have an hour more than another.
  const place = (start: string, days: number) =>
    addDays(dayOf(start), days) + (range.step === 'hour' ? hourOf(start) : '');
  const placeAt = (index: number) => series[index] && place(series[index].start, 0);
  // When clocks go back, two hours have the same name. Their sum belongs to the first of that name.
  const byPlace = new Map<string, number>();
  before?.series.forEach(({ start, people }) => {
    const at = place(start, 0);
    byPlace.set(at, (byPlace.get(at) ?? 0) + people);
  });
  const same = (start: string, index: number) => {
    if (before === undefined) return null;
    if (range.step === 'week' || range.step === 'month')
      return before.series[index]?.people ?? null;
    if (placeAt(index) === placeAt(index - 1)) return null;
    return byPlace.get(place(start, -shift)) ?? null;
  };
  const isTwice = (index: number) =>
    [index - 1, index + 1].some((next) => placeAt(next) === placeAt(index));
  return {
    length: range.step,
    distance: before === undefined ? null : nameSpan(span),
    steps: series.map(({ start, people, bots, visitors }, index) => ({
      start,
      name:
        nameStep(range.step, start) + (isTwice(index) ? messages.utcOffset(start.slice(-6)) : ''),
      people,
      bots,
      visitors,
      before: same(start, index),
    })),
  };
}

/** Returns the figures of a step in one sentence. */
export function sayStep(step: Step, { distance }: Steps): string {
  const figures = [
    messages.countPeople(step.people),
    ...(step.visitors === null ? [] : [messages.countDailyVisitors(step.visitors)]),
    messages.countBots(step.bots),
  ];
  const before =
    step.before === null || distance === null ? '' : messages.earlier(distance, step.before);
  return messages.step(step.name, figures, before);
}

/** Returns a short name of a step for the chart. */
export function tickOf(length: StepLength, start: string, withDay: boolean): string {
  if (length === 'month') return nameMonthShort(dayOf(start));
  if (length === 'hour' && !withDay) return start.slice(11, 16);
  return nameDayShort(dayOf(start));
}

function nameStep(length: StepLength, start: string): string {
  const day = dayOf(start);
  if (length === 'month') return nameMonth(day);
  if (length === 'week') return messages.weekOf(nameWeekday(day));
  if (length === 'day') return nameWeekday(day);
  return messages.hourOf(nameWeekday(day), start.slice(11, 16));
}

function shiftOf({ from, to }: Statistics['range'], span: Span): number {
  return span === '24 hours' ? 1 : countDays(from, to);
}
