import { formatNumber, plural } from '../../../lib/format';

const MILLION = 1_000_000;

/** A number with its noun: '1 enlace', '1204 enlaces', '2.000.000 de enlaces'. */
export function counted(count: number, one: string, many: string): string {
  const of = count >= MILLION && count % MILLION === 0 ? 'de ' : '';
  return `${formatNumber(count)} ${of}${plural(count, one, many)}`;
}
