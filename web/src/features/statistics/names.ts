/** Names of the breakdowns and their rows, and comparisons with the previous period. */
import type { Dimension } from '../../api';
import { nameCountry, nameLanguage } from '../../lib/calendar';
import { messages } from './messages';

/** The dimensions in the order of the page. */
export const dimensions = Object.keys(messages.dimensions) as Dimension[];

const sources: Record<string, string> = messages.sources;
const devices: Record<string, string> = messages.devices;

/** Returns the readable name of a breakdown's row. */
export function nameOf(dimension: Dimension, name: string): string {
  if (name === '') return dimension === 'referrer' ? messages.noReferrer : messages.unknown;
  if (name === '*') return messages.others;
  if (dimension === 'country') return nameCountry(name);
  if (dimension === 'language') return nameLanguage(name);
  if (dimension === 'source') return sources[name] ?? name;
  if (dimension === 'device') return devices[name] ?? name;
  return name;
}

/**
 * Compares a figure with that of the previous period, named 'previous 30 days':
 * '38% more than in the previous 30 days'. Returns '' where both are 0.
 */
export function compare(now: number, before: number, previousName: string): string {
  if (now === 0 && before === 0) return '';
  if (now === before) return messages.same(previousName);
  if (before === 0) return messages.none(previousName);
  const share = Math.abs(now - before) / before;
  if (share < 0.005) return messages.almostSame(previousName);
  return messages[now > before ? 'more' : 'fewer'](share, previousName);
}
