import { formatNumber, plural } from './format';

/** A number with its noun: '1 link', '1,204 links'. */
export function counted(count: number, one: string, many: string): string {
  return `${formatNumber(count)} ${plural(count, one, many)}`;
}
