/** The call for statistics. */
import * as v from 'valibot';
import type { Owner } from '../../lib/owner';
import { succeed, type CallOptions } from '../client';
import { code, credentials, LINK_OUTCOMES, moment } from './shared';

/** A period that ends now. */
export type RecentSpan = '24 hours' | '7 days' | '30 days' | '90 days' | '12 months' | 'all';
/** A period of days such as `2026-11-22`, both inclusive. */
export interface Dates {
  from: string;
  to: string;
}
export type Span = RecentSpan | Dates;

export interface StatisticsQuery {
  /** null for all links of the owner. */
  code: string | null;
  span: Span;
  /** IANA name of the time zone. */
  timezone: string;
}

const figures = v.object({ people: v.number(), bots: v.number(), visitors: v.number() });
const date = v.pipe(v.string(), v.isoDate());
const names = v.array(v.object({ name: v.string(), people: v.number() }));
const statistics = {
  range: v.object({
    from: date,
    to: date,
    step: v.picklist(['hour', 'day', 'week', 'month']),
    timezone: v.string(),
  }),
  totals: figures,
  previous: v.nullable(figures),
  series: v.array(
    v.object({
      start: moment,
      people: v.number(),
      bots: v.number(),
      visitors: v.nullable(v.number()),
    }),
  ),
  breakdowns: v.object({
    referrer: names,
    device: names,
    browser: names,
    system: names,
    language: names,
    country: names,
    source: names,
  }),
  top: v.optional(v.array(v.object({ code, people: v.number() }))),
  kept_from: v.optional(date),
};

/**
 * Visits in a period.
 *
 * `previous` is the period of the same length before it, null for 'all'. `series` contains every
 * step from the first to the last, each with its `start` in the time zone. `visitors` are null if a
 * step is an hour. `breakdowns` are sorted by number, largest first. The name '' stands for people
 * whose value is unknown, and `*` for those beyond the first hundred names of a day. `top` is
 * present only for all links. `kept_from` is present only if the period begins before it: data of
 * earlier days is no longer stored. `previous` is null if it would need such data.
 */
export type Statistics = v.InferOutput<v.ObjectSchema<typeof statistics, undefined>>;
export type Dimension = keyof Statistics['breakdowns'];

/**
 * Returns the statistics of one link or of all links. Public statistics need no owner (`nobody`).
 */
export async function showStatistics(
  owner: Owner,
  { code: shortCode, span, timezone }: StatisticsQuery,
  options: CallOptions = {},
): Promise<Statistics> {
  const payload = { ...credentials(owner), code: shortCode, range: span, timezone };
  return (await succeed('showStatistics', payload, statistics, LINK_OUTCOMES, options)).data;
}
