import { inksOf, type Style } from './style';

/** Parses colors, and checks and fixes their contrast for QR readers. */

const HEX = /^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i;
const FUNCTION = /^(rgb|hsl)a?\(([^)]*)\)$/i;

/** Parses a hex value, rgb() or hsl() into #rrggbb. Returns null for anything else. */
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

/** Returns red, green and blue of #rrggbb, 0 to 255. */
export const channelsOf = (hex: string) =>
  [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

/** Returns the brightness of a color, as a reader sees it in grayscale: 0 to 255. */
export function brightness(hex: string): number {
  const [r = 0, g = 0, b = 0] = channelsOf(hex);
  return 0.299 * r + 0.587 * g + 0.114 * b;
}

/**
 * Minimum distance in brightness at which three independent decoders read every file that was
 * measured; two of them read the photos, too: tests/system/qr/table.md, "Colours".
 */
const MIN_DISTANCE = 128;

/** The distance for colors that are fixed, with some reserve. */
const AMPLE = MIN_DISTANCE + 8;

/** A distance that remains sufficient under glare or a bad print. */
const STRONG = 200;

export interface Colors {
  foreground: string;
  background: string;
}

/** Returns the fault of two colors, or null. Readers expect dark on light, with a distance. */
export function colorFault({ foreground, background }: Colors): 'inverted' | 'close' | null {
  const distance = brightness(background) - brightness(foreground);
  if (distance <= -MIN_DISTANCE) return 'inverted';
  return distance < MIN_DISTANCE ? 'close' : null;
}

/** Returns the nearest readable pair. Prefers a darker foreground to a lighter background. */
export function mendColors({ foreground, background }: Colors): Colors {
  const [dark, light] =
    brightness(foreground) <= brightness(background)
      ? [foreground, background]
      : [background, foreground];
  const lit = brightness(light) < AMPLE ? lighten(light, AMPLE) : light;
  return { foreground: darken(dark, brightness(lit) - AMPLE), background: lit };
}

/** Returns the first color fault of anything that is drawn in a style, or null. */
export function styleFault(style: Style): 'inverted' | 'close' | null {
  const { background } = style;
  const faults = inksOf(style).map((foreground) => colorFault({ foreground, background }));
  return faults.find((fault) => fault !== null) ?? null;
}

/** Returns the nearest style with readable colors. */
export function mendStyle(style: Style): Style {
  const { foreground, background } = colorFault(style) ? mendColors(style) : style;
  const mend = (ink: string) =>
    colorFault({ foreground: ink, background }) ? darken(ink, brightness(background) - AMPLE) : ink;
  return { ...withInks(style, mend), foreground, background };
}

/** Returns a style whose inks have a strong contrast with its background. */
export function contrasted(style: Style): Style {
  const { background } = style;
  const lit = brightness(background) < STRONG ? lighten(background, STRONG) : background;
  const strong = withInks(style, (ink) => darken(ink, brightness(lit) - STRONG));
  return { ...strong, background: lit };
}

function withInks(style: Style, change: (ink: string) => string): Style {
  const changePart = <T extends { color: string | null }>(part: T): T => ({
    ...part,
    color: part.color && change(part.color),
  });
  return {
    ...style,
    foreground: change(style.foreground),
    second: style.second && { ...style.second, color: change(style.second.color) },
    eyeFrame: changePart(style.eyeFrame),
    eyeBall: changePart(style.eyeBall),
  };
}

function darken(hex: string, to: number): string {
  const share = Math.min(1, to / Math.max(1, brightness(hex)));
  return toHex(channelsOf(hex).map((channel) => Math.floor(channel * share)));
}

function lighten(hex: string, to: number): string {
  const share = (to - brightness(hex)) / (255 - brightness(hex));
  return toHex(channelsOf(hex).map((channel) => Math.ceil(channel + (255 - channel) * share)));
}
