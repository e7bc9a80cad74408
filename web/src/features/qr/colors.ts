/** Colours as people write them, and what a scanner makes of two of them. */

const HEX = /^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i;
const FUNCTION = /^(rgb|hsl)a?\(([^)]*)\)$/i;

/** #rrggbb of a hex value, rgb() or hsl(); null of anything else. */
export function parseColor(text: string): string | null {
  const given = text.trim();
  if (HEX.test(given)) return fromHex(given);
  const [, kind, list = ''] = FUNCTION.exec(given) ?? [];
  const parts = list.split(/[\s,/]+/).filter(Boolean);
  if (!kind || parts.length < 3) return null;
  const [a = '', b = '', c = ''] = parts;
  const channels = kind.toLowerCase() === 'rgb' ? [a, b, c].map(channel) : hslChannels(a, b, c);
  if (!channels.every(Number.isFinite)) return null;
  return toHex(channels);
}

function fromHex(given: string): string {
  const digits = given.replace('#', '').toLowerCase();
  return `#${digits.length === 3 ? digits.replace(/./g, '$&$&') : digits}`;
}

function toHex(channels: number[]): string {
  const byte = (value: number) =>
    Math.round(Math.min(255, Math.max(0, value)))
      .toString(16)
      .padStart(2, '0');
  return `#${channels.map(byte).join('')}`;
}

function number(text: string): number {
  return text === '' ? Number.NaN : Number(text);
}

function channel(text: string): number {
  return text.endsWith('%') ? number(text.slice(0, -1)) * 2.55 : number(text);
}

function hslChannels(h: string, s: string, l: string): number[] {
  const hue = number(h.replace(/deg$/i, ''));
  const [saturation = Number.NaN, lightness = Number.NaN] = [s, l].map(
    (part) => Math.min(100, Math.max(0, number(part.replace(/%$/, '')))) / 100,
  );
  const reach = saturation * Math.min(lightness, 1 - lightness);
  return [0, 8, 4].map((offset) => {
    const k = (((offset + hue / 30) % 12) + 12) % 12;
    return 255 * (lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  });
}

export function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Below this many times the light, cameras begin to lose the pattern. */
const LEAST_CONTRAST = 3;

/** What a person should know of these colours before printing them. */
export function colorAdvice(foreground: string, background: string): string | undefined {
  const dark = luminance(foreground) + 0.05;
  const light = luminance(background) + 0.05;
  if (Math.max(dark, light) / Math.min(dark, light) < LEAST_CONTRAST) {
    return 'These two colours are close to each other: many cameras will not read the code.';
  }
  if (dark > light) return 'Some cameras do not read a light code on a dark background.';
  return undefined;
}
