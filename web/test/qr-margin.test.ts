import { describe, expect, it } from 'vitest';
import { brightness, contrasted, styleFault } from '../src/features/qr/colors';
import {
  askew,
  blurred,
  glaring,
  type Grey,
  greyOf,
  noisy,
  smaller,
  spread,
  worn,
} from '../src/features/qr/distort';
import { measure } from '../src/features/qr/margin';
import { betterDesigns } from '../src/features/qr/mends';
import { modulesOf } from '../src/features/qr/modules';
import { readGrey } from '../src/features/qr/pixels';
import { millimetresOf, reachWords } from '../src/features/qr/print';
import { REHEARSED, rehearsed } from '../src/features/qr/rehearsal';
import { PLAIN, type Style } from '../src/features/qr/style';
import { symbolFor } from '../src/features/qr/symbol';
import { careOf, judge } from '../src/features/qr/verdict';

const LINK = 'https://atajo.example/k7Qm2_xB';
const SIDE = 480;
const FRAME = 40;

/** Returns a plain code of 400 pixels with white around it, in two shades. */
function pixelsOf(text: string, dark = 0, light = 255): Uint8ClampedArray {
  const modules = modulesOf(text, symbolFor(text, false));
  const pixels = new Uint8ClampedArray(SIDE * SIDE * 4).fill(255);
  for (let y = 0; y < 400; y += 1) {
    const row = modules[Math.floor((y * modules.length) / 400)] ?? [];
    for (let x = 0; x < 400; x += 1) {
      const shade = row[Math.floor((x * modules.length) / 400)] ? dark : light;
      const at = 4 * ((y + FRAME) * SIDE + x + FRAME);
      pixels.fill(shade, at, at + 3);
    }
  }
  return pixels;
}

/** Returns the result of the measurement and its number of steps. */
function measured(pixels: Uint8ClampedArray, side = SIDE) {
  const steps = measure(pixels, side);
  let count = 1;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count += 1;
  return { ...step.value, steps: count };
}

const grey = (shades: number[][]): Grey => ({
  shades: Uint8Array.from(shades.flat()),
  side: shades.length,
});
/** Compares whole buffers, which is faster than comparing so many bytes one by one. */
const same = (one: Uint8Array, other: Uint8Array) => Buffer.from(one).equals(other);
const rows = ({ shades, side }: Grey) =>
  Array.from({ length: side }, (_, y) => [...shades.slice(y * side, (y + 1) * side)]);

describe('the margin', () => {
  it('is sufficient for a plain code with a short text, in eight readings', () => {
    expect(measured(pixelsOf(LINK))).toEqual({ text: LINK, lost: null, steps: 8 });
  });

  it('is insufficient for a long text or low contrast, which is detected early', () => {
    const dense = measured(pixelsOf('x'.repeat(400)));
    expect(dense).toMatchObject({ text: 'x'.repeat(400), lost: 'worn' });
    expect(dense.steps).toBe(2);
    expect(measured(pixelsOf(LINK, 60, 120))).toMatchObject({ text: LINK, lost: 'noisy' });
  });

  it('is warmed up with a code that runs every step', () => {
    expect(measured(rehearsed(), REHEARSED)).toMatchObject({ text: '1', steps: 8 });
  });

  it('has no result if nothing is read', () => {
    const white = new Uint8ClampedArray(SIDE * SIDE * 4).fill(255);
    expect(measured(white)).toEqual({ text: null, lost: null, steps: 1 });
  });
});

describe('a lack of margin', () => {
  const logo = { src: 'data:image/png;base64,eA==', width: 60, height: 60 };
  const care = (part: Partial<Style> = {}, text = LINK, hasLogo = false) =>
    careOf(
      { text, style: { ...PLAIN, ...part }, logo: hasLogo ? logo : undefined, size: 400 },
      { text, lost: null },
    );
  const eye = { shape: 'square', color: null } as const;

  it('is not reported for common designs', () => {
    expect(care()).toBeNull();
    expect(care({ modules: 'rounded' })).toBeNull();
    expect(care({ modules: 'dots', eyeBall: { shape: 'rounded', color: '#7a0019' } })).toBeNull();
    expect(care({ background: '#fff3c4', foreground: '#14181f' })).toBeNull();
    expect(care({}, LINK, true)).toBeNull();
  });

  it('is reported for modules of few pixels, for any reason', () => {
    expect(care({ level: 'M' }, 'x'.repeat(84))).toBeNull();
    expect(care({ level: 'M' }, 'x'.repeat(85))).toBe('modules');
    expect(care({ level: 'M', quietZone: true }, 'x'.repeat(42))).toBeNull();
    expect(care({ level: 'M', quietZone: true }, 'x'.repeat(43))).toBe('modules');
    expect(care({ caption: '' }, 'x'.repeat(17))).toBeNull();
    expect(care({ caption: '' }, 'x'.repeat(18))).toBe('modules');
  });

  it('is reported for a logo that hides more than error correction restores', () => {
    expect(care({ level: 'Q' })).toBeNull();
    expect(care({ level: 'H' }, LINK, true)).toBeNull();
    expect(care({ level: 'Q' }, LINK, true)).toBe('level');
  });

  it('is reported for eyes that some readers do not recognize', () => {
    expect(care({ eyeFrame: { ...eye, shape: 'rounded' } })).toBe('eyes');
    expect(care({ eyeBall: { ...eye, shape: 'circle' } })).toBe('eyes');
  });

  it('is reported for a color that is close to a shadow on the background', () => {
    expect(care({ foreground: '#4d4d4d' })).toBeNull();
    expect(care({ foreground: '#4e4e4e' })).toBe('colors');
    expect(care({ background: '#b4b4b4', foreground: '#222222' })).toBeNull();
    expect(care({ background: '#b4b4b4', foreground: '#232323' })).toBe('colors');
    expect(care({ background: '#b3b3b3' })).toBe('colors');
    expect(care({ second: { kind: 'radial', color: '#777777' } })).toBe('colors');
    expect(care({ eyeBall: { ...eye, color: '#777777' } })).toBe('colors');
  });

  it('is the distortion in which the code was lost, and lowers the verdict', () => {
    const drawn = { text: LINK, style: PLAIN, logo: undefined, size: 400 };
    const lost = { text: LINK, lost: 'noisy' } as const;
    expect(careOf(drawn, lost)).toBe('noisy');
    expect(judge(drawn, lost)).toBe('care');
    expect(judge(drawn, { text: LINK, lost: null })).toBe('well');
    const round = { ...PLAIN, eyeBall: { ...eye, shape: 'circle' } } as const;
    expect(judge({ ...drawn, style: round }, { text: LINK, lost: null })).toBe('care');
  });
});

describe('a distortion', () => {
  const code = greyOf(pixelsOf(LINK), SIDE);
  const all: Record<string, (picture: Grey) => Grey> = {
    blurred: (picture) => blurred(picture, 3),
    spread: (picture) => spread(picture, 1),
    worn: (picture) => worn(picture, 1),
    smaller: (picture) => smaller(picture, 0.5),
    askew: (picture) => askew(picture, 10, 0.05),
    noisy: (picture) => noisy(picture, 10),
    glaring: (picture) => glaring(picture, 0.2),
  };

  it.each(Object.entries(all))(
    '%s changes the image, in the same way each time',
    (_, distorted) => {
      const before = code.shades.slice();
      const once = distorted(code);
      expect(same(once.shades, code.shades)).toBe(false);
      expect(same(once.shades, distorted(code).shades)).toBe(true);
      expect(once.shades).toHaveLength(once.side ** 2);
      expect(same(code.shades, before), 'the picture itself stays').toBe(true);
      expect(readGrey(once)).toBe(LINK);
    },
  );

  it.each(Object.entries(all))('%s keeps a white sheet light', (_, distorted) => {
    const white = { shades: new Uint8Array(64 * 64).fill(255), side: 64 };
    const { shades } = distorted(white);
    expect(Math.min(...shades)).toBeGreaterThan(180);
  });

  it('spreads and wears ink by whole pixels', () => {
    const dot = grey([
      [255, 255, 255],
      [255, 9, 255],
      [255, 255, 255],
    ]);
    expect(rows(spread(dot, 1))).toEqual([
      [9, 9, 9],
      [9, 9, 9],
      [9, 9, 9],
    ]);
    expect([...worn(dot, 1).shades]).toEqual(new Array(9).fill(255));
  });

  it('averages pixels for blur and distance', () => {
    const stripes = grey(Array.from({ length: 9 }, () => [0, 90, 0, 90, 0, 90, 0, 90, 0]));
    expect(rows(blurred(stripes, 3))[4]?.slice(2, 7)).toEqual([40, 50, 40, 50, 40]);
    expect(smaller(stripes, 1 / 3).side).toBe(3);
  });

  it('rotates and tilts around the center, with the far edge smaller than the near one', () => {
    const sheet = { shades: new Uint8Array(101 * 101), side: 101 };
    const dark = (row: number[] = []) => row.filter((shade) => shade < 128).length;
    const seen = rows(askew(sheet, 0, 0.2));
    expect(dark(seen[50])).toBeGreaterThan(80);
    const widths = seen.map(dark).filter((width) => width > 0);
    expect(widths.at(-1)).not.toBe(widths[0]);
    expect(rows(askew(sheet, 45, 0))[50]?.filter((shade) => shade === 255).length).toBeLessThan(4);
  });

  it('converts colors to their brightness', () => {
    const colors = Uint8ClampedArray.from([255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255]);
    const { shades } = greyOf(colors, 1);
    expect(shades[0]).toBe(Math.round(brightness('#ff0000')));
  });
});

describe('the suggestions for a design', () => {
  const design = { text: LINK, style: PLAIN, logo: undefined };
  const words = (of: typeof design | Parameters<typeof betterDesigns>[0]) =>
    betterDesigns(of).map((one) => one.words);

  it('begin with the smallest change and never equal the design', () => {
    const logo = { src: 'data:image/png;base64,eA==', width: 100, height: 60 };
    const fancy = { ...PLAIN, modules: 'dots', foreground: '#146c43', level: 'M' } as const;
    expect([...new Set(words({ text: LINK, style: fancy, logo }))]).toEqual([
      'Increase error correction',
      'Add a quiet zone',
      'Increase contrast',
      'Use a smaller image',
      'Use simpler shapes',
      'Use automatic error correction',
      'Use the plain style',
      'Remove the image',
    ]);
    const mends = betterDesigns({ text: LINK, style: fancy, logo });
    expect(mends.find((one) => one.words === 'Use a smaller image')?.design.logo).toEqual({
      ...logo,
      width: 70,
      height: 42,
    });
    for (const { design: better } of mends)
      expect(better).not.toEqual({ text: LINK, style: fancy, logo });
  });

  it('omit what does not fit or changes nothing', () => {
    const full = { ...design, text: 'x'.repeat(2_900) };
    expect(words(full)).toEqual(['Add a quiet zone']);
    expect(words({ ...design, style: { ...PLAIN, level: 'H', quietZone: true } })).toEqual([
      'Use automatic error correction',
      'Use the plain style',
    ]);
  });

  it('increase the contrast of all colors with the background', () => {
    const pale = {
      ...PLAIN,
      foreground: '#777777',
      background: '#e0c060',
      eyeBall: { shape: 'circle', color: '#806040' },
    } as const;
    const strong = contrasted(pale);
    expect(styleFault(strong)).toBeNull();
    for (const ink of [strong.foreground, strong.eyeBall.color ?? '']) {
      expect(brightness(strong.background) - brightness(ink)).toBeGreaterThan(195);
    }
    expect(strong.eyeBall.shape).toBe('circle');
    expect(contrasted(PLAIN)).toEqual(PLAIN);
  });
});

describe('a print', () => {
  it('is readable from a distance that depends on the size of its modules', () => {
    expect(reachWords(50, 25)).toBe('Printed 50 mm wide, it scans from up to 52 cm away.');
    expect(reachWords(50, 50)).toBe('Printed 50 mm wide, it scans from up to 26 cm away.');
    expect(reachWords(1_000, 25)).toBe('Printed 1,000 mm wide, it scans from up to 10.5 m away.');
  });

  it.each([
    ['50', 50],
    [' 32,5 ', 32.5],
    ['10', 10],
    ['1000', 1_000],
    ['1,000', 1_000],
    ['1,000.0', 1_000],
    ['12,25', 12.25],
    ['100,000', null],
    ['1,001', null],
    ['', null],
    ['9', null],
    ['1001', null],
    ['wide', null],
  ])('%j wide is %s mm', (text, millimetres) => expect(millimetresOf(text)).toBe(millimetres));
});
