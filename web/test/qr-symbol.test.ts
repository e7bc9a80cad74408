// @vitest-environment node
import { scanGrayBuffer, ZBarConfigType, ZBarScanner, ZBarSymbolType } from '@undecaf/zbar-wasm';
import jsqr from 'jsqr';
import decodeQR from 'qr/decode.js';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { QRCodeSVG } from 'qrcode.react';
import { beforeAll, describe, expect, it } from 'vitest';
import { modulesOf } from '../src/features/qr/modules';
import { readPixels } from '../src/features/qr/pixels';
import { levels, symbolFor, wellFormed } from '../src/features/qr/symbol';

const MODULE = 4;
const QUIET_ZONE = 4;

/** Draws a text's symbol with its quiet zone, as one byte per pixel. */
function picture(text: string) {
  const modules = modulesOf(text, symbolFor(text, false));
  const side = (modules.length + 2 * QUIET_ZONE) * MODULE;
  const at = (pixel: number) => Math.floor(pixel / MODULE) - QUIET_ZONE;
  const shades = Uint8Array.from({ length: side * side }, (_, index) =>
    modules[at(Math.floor(index / side))]?.[at(index % side)] ? 0 : 255,
  );
  const rgba = Uint8ClampedArray.from({ length: 4 * side * side }, (_, index) =>
    index % 4 === 3 ? 255 : (shades[index >> 2] ?? 0),
  );
  return { shades, rgba, side, modules: modules.length };
}

let zbar: ZBarScanner;
beforeAll(async () => {
  zbar = await ZBarScanner.create();
  zbar.setConfig(ZBarSymbolType.ZBAR_NONE, ZBarConfigType.ZBAR_CFG_ENABLE, 0);
  zbar.setConfig(ZBarSymbolType.ZBAR_QRCODE, ZBarConfigType.ZBAR_CFG_ENABLE, 1);
});

/** Reads a text's symbol with decoders that return text; the page's own comes last. */
async function read(text: string) {
  const { shades, rgba, side } = picture(text);
  const [found] = await scanGrayBuffer(shades.buffer, side, side, zbar);
  return {
    zbar: found?.decode(),
    jsqr: jsqr(rgba, side, side)?.data,
    qr: decodeQR({ data: rgba, width: side, height: side }),
    page: readPixels(rgba, side, 1_000),
  };
}

/** Returns the modules along a side of the symbol that qrcode.react makes, which has no designator. */
function undesignated(text: string): number {
  const { level, leastVersion } = symbolFor(text, false);
  const element = createElement(QRCodeSVG, { value: text, level, minVersion: leastVersion });
  return Number(/viewBox="0 0 (\d+)/.exec(renderToStaticMarkup(element))?.[1]);
}

/**
 * Returns texts in which a few letters, marks and symbols of a script are between ASCII characters.
 */
function randomTexts(count: number): string[] {
  const scripts = [
    [0xa1, 0xff],
    [0x100, 0x17f],
    [0x391, 0x3c9],
    [0x410, 0x44f],
    [0x5d0, 0x5ea],
    [0x621, 0x64a],
    [0x2010, 0x2030],
    [0x20a0, 0x20bf],
    [0x3041, 0x30fe],
    [0x4e00, 0x9fa5],
    [0xac00, 0xd7a3],
    [0x1f300, 0x1f5ff],
  ] as const;
  let state = 7;
  const next = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  return Array.from({ length: count }, (_, number) => {
    const [first, last] = scripts[number % scripts.length] ?? [0xa1, 0xff];
    const letters = Array.from({ length: 1 + next(12) }, () =>
      String.fromCodePoint(first + next(last - first + 1)),
    );
    return `${'ab 12'.slice(0, next(6))}${letters.join('')}${'-z.9'.slice(0, next(5))}`;
  });
}

describe('a text that is not ASCII', () => {
  const field = [
    'Zürich',
    'Café',
    '5 €',
    'ÄTest 1',
    '你好',
    'こんにちは世界',
    '90°',
    'WIFI:T:WPA;S:Ana’s iPhone;P:Ñandú-42;;',
    '\ufeffwith a byte order mark',
  ];

  it.each([...field, ...randomTexts(60)])(
    '%j is read completely by every decoder',
    async (text) => {
      // Decoders drop a byte order mark; the page's own keeps it.
      const seen = text.replace(/^\ufeff/, '');
      const { zbar: byZBar = '', jsqr: byJsQR = '', qr, page } = await read(text);
      expect([byZBar, byJsQR, qr].map((one) => one.replace(/^\ufeff/, ''))).toEqual([
        seen,
        seen,
        seen,
      ]);
      expect(page).toBe(text);
    },
  );

  it.each(field.slice(0, 7))('%j is as large as without a designator', (text) =>
    expect(picture(text).modules).toBe(undesignated(text)),
  );

  it('is measured with its designator at every level and size', () => {
    for (const level of levels) {
      for (let letters = 1; letters <= 1_480; letters += 1) {
        const text = 'é'.repeat(letters);
        const symbol = symbolFor(text, false, level);
        const before = symbolFor(text.slice(1), false, level);
        // Encoding takes long: only the first text of each size and the last of the one before.
        if (letters > 1 && symbol.modules === before.modules) continue;
        for (const one of [text, text.slice(1)].filter(Boolean)) {
          const measured = symbolFor(one, false, level);
          const size = () => modulesOf(one, measured).length;
          if (measured.modules === null) expect(size).toThrow();
          else expect(size()).toBe(measured.modules);
        }
      }
    }
  }, 120_000);

  it('has space for one byte less than ASCII text', () => {
    const full = symbolFor('é'.repeat(1_476), false);
    expect(full).toMatchObject({ used: 2_952, capacity: 2_952, modules: 177 });
    expect(symbolFor(`${'é'.repeat(1_476)}x`, false)).toMatchObject({ modules: null });
    expect(symbolFor('x'.repeat(2_953), false)).toMatchObject({ capacity: 2_953, modules: 177 });
  });
});

describe('an ASCII text', () => {
  it.each(['https://atajo.example/k7Qm2_xB', 'HTTPS://A.EXAMPLE/K7', '0123', 'a\tb\r\nc', '\x7f'])(
    '%j has no designator, which some readers would show',
    (text) => {
      const { level, raised, leastVersion } = symbolFor(text, false);
      const element = createElement(QRCodeSVG, {
        value: text,
        level,
        boostLevel: raised,
        minVersion: leastVersion,
      });
      const path = renderToStaticMarkup(element).split('<path').at(-1) ?? '';
      const rows = modulesOf(text, symbolFor(text, false));
      const drawn = rows.map((row) => row.map(() => false));
      for (const [, x, y, run] of path.matchAll(/M(\d+)[ ,](\d+) ?h(\d+)/g)) {
        drawn[Number(y)]?.fill(true, Number(x), Number(x) + Number(run));
      }
      expect(rows).toEqual(drawn);
    },
  );
});

describe('a symbol', () => {
  const texts = [
    ...[1, 17, 18, 106, 230, 231, 271, 500, 858, 1367, 1465, 1466, 2500, 2953].map((n) =>
      'x'.repeat(n),
    ),
    ...[1, 41, 552, 553, 2283, 7089].map((n) => '7'.repeat(n)),
    ...[1, 25, 335, 336, 4296].map((n) => 'A'.repeat(n)),
    '',
  ];
  it.each(texts.flatMap((text) => [[text, false] as const, [text, true] as const]))(
    'has the size that the library computes: %#',
    (text, hasLogo) => {
      const { level, leastVersion, modules } = symbolFor(text, hasLogo);
      const draw = () =>
        renderToStaticMarkup(
          createElement(QRCodeSVG, { value: text, level, minVersion: leastVersion }),
        );
      if (modules === null) expect(draw).toThrow();
      else expect(draw()).toContain(`viewBox="0 0 ${modules} ${modules}"`);
    },
  );

  it('contains no half characters', () => expect(wellFormed('a\ud83d')).toBe('a\ufffd'));
});
