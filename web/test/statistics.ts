/** Statistics as the server returns them. */
import { data, type Reply } from './server';
import type { Statistics } from '../src/api';

const NONE: Statistics['breakdowns'] = {
  referrer: [],
  device: [],
  browser: [],
  system: [],
  language: [],
  country: [],
  source: [],
};

type More = Partial<Omit<Statistics, 'breakdowns'>> & {
  breakdowns?: Partial<Statistics['breakdowns']>;
};

/** Returns statistics of the last days of November up to the 22nd, with these people per day. */
export function days(people: readonly number[], more: More = {}): Statistics {
  const first = 23 - people.length;
  const day = (index: number) => `2026-11-${String(first + index).padStart(2, '0')}`;
  const sum = people.reduce((all, count) => all + count, 0);
  return {
    range: { from: day(0), to: '2026-11-22', step: 'day', timezone: 'Europe/Madrid' },
    totals: { people: sum, bots: people.length, visitors: Math.floor(sum / 2) },
    previous: { people: 10, bots: 2, visitors: 5 },
    series: people.map((count, index) => ({
      start: `${day(index)}T00:00:00+01:00`,
      people: count,
      bots: 1,
      visitors: Math.floor(count / 2),
    })),
    ...more,
    breakdowns: { ...NONE, ...more.breakdowns },
  };
}

export function told(statistics: Statistics): Reply {
  return data({ success: true, ...statistics });
}

/** Returns a reply without visits, for any period. */
export const noVisits = () =>
  told(
    days([0, 0], {
      totals: { people: 0, bots: 0, visitors: 0 },
      previous: { people: 0, bots: 0, visitors: 0 },
    }),
  );
