/** Statistics in the query cache. */
import { queryOptions } from '@tanstack/react-query';
import { failureReason, showStatistics, type Span, type Statistics } from '../../api';
import { KEPT_FOR } from '../../api/cache';
import { keys } from '../../api/keys';
import { viewerZone } from '../../lib/calendar';
import type { Owner } from '../../lib/owner';
import { spanKey } from './spans';

export interface Answer {
  /** The requested period. */
  span: Span;
  statistics: Statistics;
}

/** Returns the query of the statistics of a link or, with null, of all links of the owner. */
export function statisticsOf(owner: Owner, code: string | null, span: Span) {
  return queryOptions({
    queryKey: keys.statistics(owner, code ?? '', spanKey(span), viewerZone()),
    queryFn: async ({ signal }): Promise<Answer> => ({
      span,
      statistics: await ask(owner, code, span, signal),
    }),
    gcTime: KEPT_FOR,
  });
}

/** Requests statistics in the viewer's time zone, or in UTC if the server does not know it. */
async function ask(
  owner: Owner,
  code: string | null,
  span: Span,
  signal: AbortSignal,
): Promise<Statistics> {
  try {
    return await showStatistics(owner, { code, span, timezone: viewerZone() }, { signal });
  } catch (error) {
    if (failureReason(error) !== 'INVALID_TIMEZONE') throw error;
    return showStatistics(owner, { code, span, timezone: 'UTC' }, { signal });
  }
}
