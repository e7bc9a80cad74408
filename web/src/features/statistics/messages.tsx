/** Texts of the statistics. */
import type { ReactNode } from 'react';
import type { Dimension, RecentSpan, Statistics } from '../../api';
import { formatPercent, nameDay } from '../../lib/calendar';
import { counted } from '../../lib/counted';
import { formatNumber, plural } from '../../lib/format';

type Step = Statistics['range']['step'];

const people = (count: number) => counted(count, 'person', 'people');
const bots = (count: number) => counted(count, 'bot', 'bots');
const dailyVisitors = (count: number) => counted(count, 'daily visitor', 'daily visitors');

export const messages = {
  title: 'Statistics',
  loading: 'Loading the statistics',
  loadFailed: 'The statistics did not load.',
  tooManyLinks:
    'Statistics of all links are available for up to 100,000 links. Each link has its statistics on its own page.',
  noVisits: 'No visits in this period.',
  stale: 'These figures may be out of date: the latest ones did not load.',

  allLinks: 'All links',
  allStatistics: 'Statistics of all links',
  hideStatistics: 'Hide statistics',
  summary: (people: ReactNode, period: string, others: ReactNode) => (
    <>
      {people} in the last {period}, {others}
    </>
  ),

  people: 'People',
  dailyVisitors: 'Daily visitors',
  bots: 'Bots',
  botsApart: 'Bots (not included)',
  countPeople: people,
  countPerson: (count: number) => plural(count, 'person', 'people'),
  countBots: bots,
  countDailyVisitors: dailyVisitors,

  period: 'Period',
  periods: {
    '24 hours': '24 hours',
    '7 days': '7 days',
    '30 days': '30 days',
    '90 days': '90 days',
    '12 months': '12 months',
    all: 'All time',
  } satisfies Record<RecentSpan, string>,
  dates: 'Dates',
  days: (count: number) => counted(count, 'day', 'days'),
  firstDay: 'First day',
  lastDay: 'Last day',
  showDates: 'Show',
  noDates: 'Enter two dates.',
  datesReversed: 'The last day must not be before the first day.',
  tooManyDays: (max: number) => `Choose at most ${formatNumber(max)} days.`,

  previous: (period: string) => `previous ${period}`,
  previousDay: 'previous day',
  same: (previous: string) => `same as in the ${previous}`,
  almostSame: (previous: string) => `about the same as in the ${previous}`,
  none: (previous: string) => `none in the ${previous}`,
  more: (share: number, previous: string) => `${formatPercent(share)} more than in the ${previous}`,
  fewer: (share: number, previous: string) =>
    `${formatPercent(share)} fewer than in the ${previous}`,

  peopleBy: {
    hour: 'People by hour',
    day: 'People by day',
    week: 'People by week',
    month: 'People by month',
  } satisfies Record<Step, string>,
  dotted: (previous: string) => `Dotted line: ${previous}`,
  step: (name: string, figures: readonly string[], before: string) =>
    `${name}: ${figures.join(', ')}${before}`,
  earlier: (distance: string, count: number) => `; ${distance} earlier: ${people(count)}`,
  weekOf: (day: string) => `Week of ${day}`,
  hourOf: (day: string, time: string) => `${day}, ${time}`,
  utcOffset: (offset: string) => ` (UTC${offset})`,
  showTable: 'Show as a table',
  hideTable: 'Hide the table',
  csv: 'CSV',
  steps: { hour: 'Hour', day: 'Day', week: 'Week', month: 'Month' } satisfies Record<Step, string>,
  peopleIn: (previous: string) => `People in the ${previous}`,

  mostVisited: 'Most visited',
  dimensions: {
    referrer: 'Referrers',
    device: 'Devices',
    country: 'Countries',
    browser: 'Browsers',
    system: 'Operating systems',
    language: 'Languages',
    source: 'Source',
  } satisfies Record<Dimension, string>,
  noReferrer: 'Direct or unknown',
  unknown: 'Unknown',
  others: 'Other',
  sources: { link: 'Link', qr: 'QR code' },
  devices: { desktop: 'Desktop', phone: 'Phone', tablet: 'Tablet', other: 'Other' },
  showAll: (count: number) => `Show all ${formatNumber(count)}`,
  showFewer: 'Show fewer',
  of: (title: string) => `of ${title}`,

  timeZone: (zone: string) =>
    zone === 'UTC' ? 'Dates are in UTC.' : `Dates are in ${zone}. The lists cover whole UTC days.`,
  partHours:
    'The offset of this time zone from UTC is not a whole number of hours. Visits are counted in the hour in which their UTC hour began.',
  keptFrom: (day: string) => `Daily statistics before ${nameDay(day)} are no longer stored.`,

  /** Header and kinds of lines of the CSV file. */
  table: {
    fields: ['kind', 'name', 'people', 'daily visitors', 'bots', 'people in previous period'],
    timeZone: 'time zone',
    keptFrom: 'stored from',
    total: 'total',
    range: (from: string, to: string) => `${from} to ${to}`,
    previous: 'previous period',
  },
};
