import { afterEach, describe, expect, it, vi } from 'vitest';
import { language as spanish } from '../src/languages/es/lib/language';

const NOON = '2026-11-20T12:00:00Z';

/** Loads the formats for a visitor on a page in English, or in Spanish. */
async function formats(accepted: string[], isSpanish: boolean) {
  vi.resetModules();
  if (isSpanish) vi.doMock('../src/lib/language', () => ({ language: spanish }));
  vi.spyOn(navigator, 'languages', 'get').mockReturnValue(accepted);
  const { formatNumber, formatMoment, formatDay } = await import('../src/lib/format');
  const { formatPercent, nameDay } = await import('../src/lib/calendar');
  return { formatNumber, formatMoment, formatDay, formatPercent, nameDay };
}

afterEach(() => {
  vi.doUnmock('../src/lib/language');
  vi.resetModules();
});

describe('numbers and dates', () => {
  it.each([
    [['es-MX'], '12,345.5', '20 nov 2026'],
    [['es-ES', 'es', 'en'], '12.345,5', '20 nov 2026'],
    [['en-US', 'es-MX'], '12,345.5', '20 nov 2026'],
    [['es'], '12.345,5', '20 nov 2026'],
    [['es-CO@posix', 'es-419'], '12,345.5', '20 nov 2026'],
  ])('in Spanish are those of the region for %j', async (accepted, number, day) => {
    const { formatNumber, formatMoment, nameDay } = await formats(accepted, true);
    expect(formatNumber(12_345.5)).toBe(number);
    expect(formatMoment(NOON)).toBe(day);
    expect(nameDay('2026-11-20')).toBe(day);
  });

  it.each([
    [['en-US'], '123,456.5', 'Nov 20, 2026'],
    [['en-IN'], '1,23,456.5', '20 Nov 2026'],
    [['en'], '123,456.5', '20 Nov 2026'],
    [['de-DE', 'en'], '123,456.5', '20 Nov 2026'],
    [['en_US', 'en-US@posix'], '123,456.5', '20 Nov 2026'],
    [[], '123,456.5', '20 Nov 2026'],
  ])('in English are those of the region for %j', async (accepted, number, day) => {
    const { formatNumber, formatMoment, nameDay, formatPercent } = await formats(accepted, false);
    expect(formatNumber(123_456.5)).toBe(number);
    expect(formatMoment(NOON)).toBe(day);
    expect(nameDay('2026-11-20')).toBe(day);
    expect(formatPercent(0.42)).toBe('42%');
  });

  it.each(['en-US', 'en-DE', 'en-ZA', 'en-CH', 'es-AR', 'es-ES'])(
    'that someone types are read as the page writes them for %s',
    async (accepted) => {
      const { formatNumber } = await formats([accepted], accepted.startsWith('es'));
      const { millimetresOf, WIDTH_FAULT } = await import('../src/features/qr/print');
      expect(WIDTH_FAULT).toContain(formatNumber(1_000));
      for (const width of [1_000, 12.5]) expect(millimetresOf(formatNumber(width))).toBe(width);
      expect(millimetresOf('12.5')).toBe(12.5);
      expect(millimetresOf(formatNumber(1_001))).toBeNull();
    },
  );

  it.each([
    ['en-DE', '1.000'],
    ['en-ZA', '1 000'],
    ['en-CH', "1'000"],
    ['en-CH', '1’000'],
  ])('that someone types are read for %s with the separator of the keyboard', async (...given) => {
    const [accepted, width] = given;
    await formats([accepted], false);
    const { millimetresOf } = await import('../src/features/qr/print');
    expect(millimetresOf(width)).toBe(1_000);
  });

  it('of prerendered documents are the same for everyone', async () => {
    const { formatDay } = await formats(['en-US'], false);
    expect(formatDay('2026-11-20')).toBe('20 November 2026');
  });
});
