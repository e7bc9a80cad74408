import { screen, waitFor, within } from '@testing-library/react';
import { QRCodeSVG } from 'qrcode.react';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { mendStyle, styleFault } from '../src/features/qr/colors';
import { draw, type Drawing } from '../src/features/qr/drawing';
import { type Modules, modulesOf } from '../src/features/qr/modules';
import {
  deleteStyle,
  keepStyle,
  keptStyles,
  LONGEST_NAME,
  MOST_KEPT,
} from '../src/features/qr/more/kept';
import {
  ballShapes,
  frameShapes,
  gradientKinds,
  moduleShapes,
  PLAIN,
  type Style,
} from '../src/features/qr/style';
import { svgOf } from '../src/features/qr/svg';
import { levels, symbolFor } from '../src/features/qr/symbol';
import { expectNoAxeViolations, heading, visit } from './app';

const FANCY: Style = {
  foreground: '#146c43',
  background: '#fffbe6',
  second: { kind: 'radial', color: '#14181f' },
  modules: 'rounded',
  eyeFrame: { shape: 'rounded', color: '#7a0019' },
  eyeBall: { shape: 'circle', color: null },
  caption: 'Escanéame',
  level: 'Q',
  quietZone: true,
};
const LOGO = { src: 'data:image/png;base64,eA==', width: 100, height: 60 };
/** A caption of one triangle. */
const OUTLINE = {
  width: 100,
  height: 70,
  rings: [
    [
      [0, 0],
      [100, 0],
      [50, 70],
      [0, 0],
    ] as [number, number][],
  ],
};

/** Returns the polygons of a path, with its curves as a few lines. */
function polygons(path: string): [number, number][][] {
  return path
    .split('Z')
    .filter(Boolean)
    .map((part) => {
      const points: [number, number][] = [];
      for (const [, command, list = ''] of part.matchAll(/([MLC])([^MLC]*)/g)) {
        const numbers = list.trim().split(/\s+/).map(Number);
        if (command !== 'C') {
          points.push([numbers[0] ?? NaN, numbers[1] ?? NaN]);
          continue;
        }
        const [x0 = NaN, y0 = NaN] = points.at(-1) ?? [];
        const [x1 = NaN, y1 = NaN, x2 = NaN, y2 = NaN, x3 = NaN, y3 = NaN] = numbers;
        for (let t = 0.125; t <= 1; t += 0.125) {
          const u = 1 - t;
          const at = (a: number, b: number, c: number, d: number) =>
            u ** 3 * a + 3 * u * u * t * b + 3 * u * t * t * c + t ** 3 * d;
          points.push([at(x0, x1, x2, x3), at(y0, y1, y2, y3)]);
        }
      }
      return points;
    });
}

/** Returns a function that tells whether a point is painted, by the nonzero rule. */
function inkOf({ shapes }: Drawing): (x: number, y: number) => boolean {
  const drawn = shapes.map(({ path }) => polygons(path));
  return (x, y) =>
    drawn.some((shape) => {
      let winding = 0;
      for (const points of shape) {
        points.forEach(([x1, y1], at) => {
          const [x2, y2] = points[(at + 1) % points.length] ?? [NaN, NaN];
          if (y1 <= y === y2 <= y) return;
          if (x1 + ((y - y1) / (y2 - y1)) * (x2 - x1) > x) winding += y2 > y1 ? 1 : -1;
        });
      }
      return winding !== 0;
    });
}

const modules = modulesOf('https://atajo.example/k7Qm2_xB', symbolFor('x', false));

describe('a symbol', () => {
  const texts = [
    ...[1, 20, 90, 300, 1200].map((n) => 'https://a.example/'.repeat(100).slice(0, n)),
    '7'.repeat(55),
    'HTTPS://A.EXAMPLE/K7QM2-XB',
  ];
  const cases = texts.flatMap((text) =>
    [null, ...levels].flatMap((level) => [false, true].map((logo) => [text, level, logo] as const)),
  );

  it.each(cases)('equals that of the plain canvas: %#', (text, chosen, hasLogo) => {
    const symbol = symbolFor(text, hasLogo, chosen);
    const { level, raised, leastVersion } = symbol;
    const element = createElement(QRCodeSVG, {
      value: text,
      level,
      boostLevel: raised,
      minVersion: leastVersion,
    });
    const path = renderToStaticMarkup(element).split('<path').at(-1) ?? '';
    const drawn: Modules = modulesOf(text, symbol);
    expect(drawn.length).toBe(symbol.modules);
    const plain = drawn.map((row) => row.map(() => false));
    for (const [, x, y, run] of path.matchAll(/M(\d+)[ ,](\d+) ?h(\d+)/g)) {
      plain[Number(y)]?.fill(true, Number(x), Number(x) + Number(run));
    }
    expect(drawn).toEqual(plain);
  });

  it.each(
    levels.flatMap((level) => [100, 900, 1660, 1664, 2331, 2332].map((n) => [level, n] as const)),
  )('fits at level %s with %i bytes if the library can encode it', (level, length) => {
    const text = 'x'.repeat(length);
    const symbol = symbolFor(text, false, level);
    const find = () => modulesOf(text, symbol).length;
    if (symbol.modules === null) expect(find).toThrow();
    else expect(find()).toBe(symbol.modules);
  });
});

describe('a drawing', () => {
  const styles: [string, Style][] = [
    ...moduleShapes.flatMap((shape) =>
      frameShapes.flatMap((frame) =>
        ballShapes.map((ball): [string, Style] => [
          `${shape} with eyes of ${frame} and ${ball}`,
          {
            ...PLAIN,
            modules: shape,
            eyeFrame: { shape: frame, color: null },
            eyeBall: { shape: ball, color: '#ff0000' },
          },
        ]),
      ),
    ),
    ...gradientKinds.map((kind): [string, Style] => [
      kind,
      { ...FANCY, second: { kind, color: '#000080' } },
    ]),
  ];

  it.each(styles)(
    'paints the center of every dark module and of no light one: %s',
    (_name, style) => {
      const drawing = draw(modules, style, undefined);
      const across = style.caption === null ? drawing.side : drawing.side / 1.24;
      const margin = style.caption === null ? 0 : 4;
      const left = (drawing.side - across) / 2 + margin;
      const top = (style.caption === null ? 0 : across * 0.04) + margin;
      const isInked = inkOf(drawing);
      const wrong = modules.flatMap((row, y) =>
        row.flatMap((dark, x) => (isInked(left + x + 0.5, top + y + 0.5) === dark ? [] : [[x, y]])),
      );
      expect(wrong).toEqual([]);
    },
  );

  it('has the colors of its style, one per path', () => {
    const { shapes, background } = draw(modules, FANCY, undefined, OUTLINE);
    expect(background).toBe('#fffbe6');
    expect(shapes.map(({ fill }) => fill)).toEqual([
      expect.objectContaining({ kind: 'radial', colors: ['#146c43', '#14181f'] }),
      '#7a0019',
      expect.objectContaining({ kind: 'radial' }),
      '#146c43',
      '#fffbe6',
    ]);
  });

  it('is a single path if it has a single color', () => {
    expect(draw(modules, PLAIN, undefined).shapes).toHaveLength(1);
  });

  it('keeps the area of its logo free', () => {
    const drawing = draw(modules, { ...PLAIN, modules: 'dots' }, LOGO);
    const { x = NaN, y = NaN, width = NaN, height = NaN } = drawing.logo ?? {};
    expect([width / drawing.side, height / drawing.side]).toEqual([0.25, 0.15]);
    expect(x + width / 2).toBeCloseTo(drawing.side / 2);
    const isInked = inkOf(drawing);
    for (let at = 0; at <= 20; at += 1) {
      expect(isInked(x + (width * at) / 20, y + (height * at) / 20)).toBe(false);
    }
  });

  it('has its caption inside the band of the frame', () => {
    const { side, shapes } = draw(modules, FANCY, undefined, OUTLINE);
    const [words = []] = polygons(shapes.at(-1)?.path ?? '');
    expect(words).toHaveLength(4);
    const band = side - (side / 1.24) * 0.2;
    for (const [x, y] of words) {
      expect(x).toBeGreaterThan(0);
      expect(x).toBeLessThan(side);
      expect(y).toBeGreaterThan(band);
      expect(y).toBeLessThan(side);
    }
  });
});

describe('an SVG', () => {
  const parse = (style: Style, logo?: typeof LOGO) => {
    const text = svgOf(draw(modules, style, logo, OUTLINE));
    const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
    expect(parsed.querySelector('parsererror')).toBeNull();
    return parsed.documentElement;
  };

  it('contains only vectors, in one file', () => {
    const svg = parse(FANCY);
    const names = new Set(Array.from(svg.querySelectorAll('*'), (element) => element.tagName));
    expect([...names].sort()).toEqual(['defs', 'path', 'radialGradient', 'stop']);
    for (const path of svg.querySelectorAll('path[fill^="url"]')) {
      const id = /^url\(#(.*)\)$/.exec(path.getAttribute('fill') ?? '')?.[1];
      expect(svg.querySelector(`radialGradient[id="${id ?? ''}"]`)).not.toBeNull();
    }
  });

  it('contains its logo, also for programs that know SVG 1.1 only', () => {
    const image = parse(PLAIN, LOGO).querySelector('image');
    expect(image?.getAttribute('href')).toBe(LOGO.src);
    expect(image?.getAttributeNS('http://www.w3.org/1999/xlink', 'href')).toBe(LOGO.src);
  });
});

describe('the colors of a style', () => {
  it('are all checked and fixed', () => {
    for (const color of ['#ffffff', '#ffff00', '#777777', '#eeeeee']) {
      for (const part of ['eyeFrame', 'eyeBall'] as const) {
        const style = { ...PLAIN, background: '#cccccc', [part]: { shape: 'circle', color } };
        expect(styleFault(style)).not.toBeNull();
        expect(styleFault(mendStyle(style))).toBeNull();
      }
      const style: Style = { ...FANCY, second: { kind: 'linear', color } };
      expect(styleFault(mendStyle(style))).toBeNull();
    }
    expect(styleFault({ ...FANCY, foreground: '#ffffff', background: '#000000' })).toBe('inverted');
    expect(mendStyle(FANCY)).toEqual(FANCY);
  });
});

describe('saved styles', () => {
  beforeEach(() => localStorage.clear());
  const names = () => keptStyles().map(({ name }) => name);

  it('are saved, loaded and deleted', () => {
    expect(keepStyle('café', FANCY)).toBeNull();
    expect(keepStyle('plain', PLAIN)).toBeNull();
    expect(keptStyles()).toEqual([
      { name: 'café', style: FANCY },
      { name: 'plain', style: PLAIN },
    ]);
    expect(keepStyle('café', PLAIN)).toBeNull();
    expect(keptStyles()).toEqual([
      { name: 'plain', style: PLAIN },
      { name: 'café', style: PLAIN },
    ]);
    expect(deleteStyle('plain')).toBe(true);
    expect(names()).toEqual(['café']);
  });

  it.each(['', '{', 'null', '7', '{"name":"x"}', '[1,null,{"name":"x","style":{}}]'])(
    'ignore a stored value of %j',
    (stored) => {
      localStorage.setItem('qrStyles', stored);
      expect(keptStyles()).toEqual([]);
      expect(keepStyle('new', FANCY)).toBeNull();
      expect(names()).toEqual(['new']);
    },
  );

  it('exclude only damaged ones', () => {
    const stored = [
      { name: 'good', style: PLAIN },
      { name: 'bad', style: { ...PLAIN, foreground: 'red;}' } },
      { name: 'long', style: { ...PLAIN, caption: 'x'.repeat(31) } },
      { name: 'x'.repeat(LONGEST_NAME + 1), style: PLAIN },
      { name: 'shape', style: { ...PLAIN, modules: 'stars' } },
    ];
    localStorage.setItem('qrStyles', JSON.stringify(stored));
    expect(names()).toEqual(['good']);
  });

  it('are limited in number, and can still be overwritten', () => {
    for (let at = 0; at < MOST_KEPT; at += 1) expect(keepStyle(`${at}`, PLAIN)).toBeNull();
    expect(keepStyle('one more', PLAIN)).toBe('full');
    expect(keepStyle('0', FANCY)).toBeNull();
    expect(names()).toHaveLength(MOST_KEPT);
  });

  it('report that storage refuses them', () => {
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    expect(keepStyle('new', FANCY)).toBe('refused');
    expect(keptStyles()).toEqual([]);
  });
});

describe('More options', () => {
  /** Paths filled on a canvas, and its size at that time. */
  let filled: { path: string; fill: unknown; size: number }[];
  let saved: string[];
  /** Widths of created PDF files. */
  let widths: unknown[];

  beforeEach(() => {
    localStorage.clear();
    filled = [];
    saved = [];
    widths = [];
    vi.stubGlobal(
      'Path2D',
      class Path2D {
        constructor(readonly path = '') {}
        addPath() {
          // Each path has one part.
        }
      },
    );
    vi.spyOn(console, 'warn').mockReturnValue();
    HTMLImageElement.prototype.decode = () => Promise.resolve();
    Object.assign(HTMLCanvasElement.prototype, {
      getContext(this: HTMLCanvasElement) {
        const pen = {
          canvas: this,
          fillStyle: '',
          scale: vi.fn(),
          setTransform: vi.fn(),
          fillRect: vi.fn(),
          fillText: vi.fn(),
          drawImage: vi.fn(),
          measureText: () => ({ width: 10 }),
          createLinearGradient: () => ({ addColorStop: vi.fn() }),
          createRadialGradient: () => ({ addColorStop: vi.fn() }),
          fill: ({ path }: { path: string }) =>
            filled.push({ path, fill: pen.fillStyle, size: this.width }),
          getImageData: (_x: number, _y: number, width: number, height: number) => ({
            width,
            data: new Uint8ClampedArray(4 * width * height).fill(255),
          }),
        };
        return pen;
      },
    });
    Object.assign(document, { fonts: { load: () => Promise.resolve([]) } });
    vi.stubGlobal(
      'Worker',
      class extends EventTarget {
        postMessage(order: object | string) {
          // The decoder never responds, the PDF writer at once.
          if (typeof order === 'string' || !('millimetres' in order)) return;
          widths.push(order.millimetres);
          const data = { file: new Blob() };
          setTimeout(() => this.dispatchEvent(new MessageEvent('message', { data })));
        }
        terminate() {
          // There is no real worker.
        }
      },
    );
    vi.spyOn(HTMLCanvasElement.prototype, 'toBlob').mockImplementation((give) => give(new Blob()));
    URL.createObjectURL = () => 'blob:here';
    URL.revokeObjectURL = () => undefined;
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (
      this: HTMLAnchorElement,
    ) {
      saved.push(this.download);
    });
  });

  async function open() {
    const { user } = visit('/custom-qr-generator', { url: 'https://example.org/' });
    await heading('CUSTOM QR CODE GENERATOR');
    const more = screen.getByRole('button', { name: 'More options' });
    expect(more).toHaveAttribute('aria-expanded', 'false');
    expect(screen.queryByRole('heading', { name: 'Style' })).toBeNull();
    await user.click(more);
    await screen.findByRole('heading', { level: 2, name: 'Style' });
    expect(more).toHaveAttribute('aria-expanded', 'true');
    return user;
  }
  const choose = (group: string, option: string) =>
    within(screen.getByRole('group', { name: group })).getByRole('radio', { name: option });

  it('changes the style, and redraws the code at once', async () => {
    const user = await open();
    await expectNoAxeViolations();
    await user.click(choose('Modules', 'Dots'));
    await waitFor(() => expect(filled.at(-1)?.path).toContain('C'));
    expect(screen.getByRole('img', { name: 'QR code of https://example.org/' })).toHaveProperty(
      'width',
      400,
    );
    await user.click(choose('Gradient', 'Linear'));
    await user.click(screen.getByRole('checkbox', { name: 'Custom color for eye balls' }));
    await user.click(screen.getByRole('checkbox', { name: 'Frame with text' }));
    await expectNoAxeViolations();
    const words = screen.getByRole('textbox', { name: 'Frame text' });
    await user.clear(words);
    await user.type(words, '😀'.repeat(35));
    expect(words).toHaveValue('😀'.repeat(30));

    await user.click(screen.getByRole('button', { name: 'Reset style' }));
    expect(choose('Modules', 'Square')).toBeChecked();
    expect(choose('Gradient', 'None')).toBeChecked();
    expect(screen.queryByRole('textbox', { name: 'Frame text' })).toBeNull();
  });

  it('saves a style under a name, applies it, and deletes it', async () => {
    const user = await open();
    const name = screen.getByRole('textbox', { name: 'Style name' });
    const keep = screen.getByRole('button', { name: 'Save style' });
    await user.click(keep);
    expect(name).toBeInvalid();
    expect(name).toHaveFocus();
    await user.click(choose('Modules', 'Rounded'));
    await user.type(name, 'Round{Enter}');
    const list = await screen.findByRole('list', { name: 'Saved styles' });
    expect(within(list).getByRole('button', { name: 'Round' })).toBePressed();
    await user.click(screen.getByRole('button', { name: 'Reset style' }));
    expect(within(list).getByRole('button', { name: 'Round' })).not.toBePressed();
    await user.click(within(list).getByRole('button', { name: 'Round' }));
    expect(choose('Modules', 'Rounded')).toBeChecked();
    await expectNoAxeViolations();
    await user.click(screen.getByRole('button', { name: 'Delete Round' }));
    expect(screen.queryByRole('list', { name: 'Saved styles' })).toBeNull();
    expect(name).toHaveFocus();
  });

  it('offers the quiet zone beside the print width while the code has none', async () => {
    const user = await open();
    const file = within(screen.getByRole('region', { name: 'File' }));
    file.getByText('Without a quiet zone, a code does not scan on a dark background.');
    await user.click(file.getByRole('button', { name: 'Add a quiet zone' }));
    expect(screen.getByRole('switch', { name: /^Quiet zone/ })).toBeChecked();
    expect(screen.queryByText(/^Without a quiet zone/)).toBeNull();
  });

  it('saves a larger PNG', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'], shouldAdvanceTime: true });
    const user = await open();
    await user.click(choose('PNG size (pixels)', '3,200'));
    await user.click(screen.getByRole('button', { name: 'DOWNLOAD QR' }));
    await waitFor(() => expect(filled.at(-1)?.size).toBe(3200));
    await vi.advanceTimersByTimeAsync(6_000);
    await waitFor(() => expect(saved).toEqual(['my-qr-code.png']));
  });

  it('saves a PDF of a valid width', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'], shouldAdvanceTime: true });
    const user = await open();
    const width = screen.getByRole('textbox', { name: 'Print width (mm)' });
    for (const wrong of ['', '9', '1001', 'wide']) {
      await user.clear(width);
      if (wrong) await user.type(width, wrong);
      await user.click(screen.getByRole('button', { name: 'PDF' }));
      expect(width).toBeInvalid();
      screen.getByText('Enter 10 to 1,000 millimeters');
    }
    await user.clear(width);
    await user.type(width, '32,5{Enter}');
    await vi.advanceTimersByTimeAsync(6_000);
    await waitFor(() => expect(saved).toEqual(['my-qr-code.pdf']));
    expect(widths).toEqual([32.5]);
  });
});
