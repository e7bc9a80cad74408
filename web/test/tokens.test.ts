// @vitest-environment node
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const tokens = new Map(
  Array.from(
    read('../src/styles/tokens.css').matchAll(
      /(--[\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g,
    ),
    ([, name = '', light = '', dark = '']) => [name, { light, dark }] as const,
  ),
);

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function color(name: string, theme: 'light' | 'dark'): string {
  const value = tokens.get(name);
  if (!value) throw new Error(`no token ${name}`);
  return value[theme];
}

const grounds = ['--paper', '--ground'];
const textPairs = [
  ...['--ink', '--quiet', '--error'].flatMap((text) =>
    grounds.map((ground) => [text, ground] as const),
  ),
  ['--on-sign', '--sign'],
  ['--on-plate', '--plate'],
  ['--on-plate-quiet', '--plate'],
  ['--sample', '--on-sample'],
] as const;
const edgePairs = [
  ...['--edge', '--ink', '--error'].flatMap((edge) =>
    grounds.map((ground) => [edge, ground] as const),
  ),
  ['--sign', '--plate'],
] as const;

describe.each(['light', 'dark'] as const)('the %s tokens', (theme) => {
  it.each(textPairs)('%s on %s is readable (4.5:1)', (text, ground) => {
    expect(contrast(color(text, theme), color(ground, theme))).toBeGreaterThanOrEqual(4.5);
  });

  it.each(edgePairs)('%s on %s is visible (3:1)', (edge, ground) => {
    expect(contrast(color(edge, theme), color(ground, theme))).toBeGreaterThanOrEqual(3);
  });
});

describe('style sheets other than the tokens', () => {
  const folder = new URL('../src/', import.meta.url);
  const sheets = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.css') && !/(?:tokens|fonts)\.css$/.test(path),
  );

  it.each(sheets)('%s defines no color, size or font', (path) => {
    const rules = read(`../src/${path}`)
      .replace(/\/\*.*?\*\//gs, '')
      .replace(/@media[^{]*/g, '');
    expect(rules.match(/#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(/gi)).toBeNull();
    expect(rules.match(/(?<![\w-])-?[\d.]+(?:px|rem|pt)\b/g)).toBeNull();
    expect(rules.match(/font-family:(?!\s*var\()[^;]*/g)).toBeNull();
  });

  it('use only defined tokens', () => {
    const defined = new Set(read('../src/styles/tokens.css').match(/--[\w-]+(?=:)/g));
    for (const path of sheets) {
      const sheet = read(`../src/${path}`);
      const local = new Set(sheet.match(/--[\w-]+(?=:)/g));
      for (const [, name = ''] of sheet.matchAll(/var\((--[\w-]+)/g)) {
        const known =
          defined.has(name) || local.has(name) || ['--longest', '--earlier'].includes(name);
        expect(known, `${name} in ${path}`).toBe(true);
      }
    }
  });

  it('use every defined token', () => {
    const used = new Set(
      [...sheets, 'styles/tokens.css', 'styles/fonts.css']
        .map((path) => read(`../src/${path}`))
        .flatMap((sheet) => Array.from(sheet.matchAll(/var\((--[\w-]+)/g), ([, name]) => name)),
    );
    const defined = read('../src/styles/tokens.css').match(/--[\w-]+(?=:)/g) ?? [];
    expect(defined.filter((name) => !used.has(name))).toEqual([]);
  });

  const components = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.tsx'))
    .map((path) => ({ path, code: read(`../src/${path}`) }));

  it.each(sheets.filter((path) => path.endsWith('.module.css')))(
    '%s and the components that import it have the same classes',
    (sheet) => {
      const rules = read(`../src/${sheet}`).replace(
        /\/\*.*?\*\/|:global\([^)]*\)|\{[^{}]*\}/gs,
        '',
      );
      const classes = new Set(
        Array.from(rules.matchAll(/\.([a-z]\w*)/gi), ([, name = '']) => name),
      );
      const used = new Set<string>();
      for (const { path, code } of components) {
        const found = Array.from(code.matchAll(/import (\w+) from '(\..*?\.css)'/g)).find(
          ([, , from = '']) =>
            new URL(from, new URL(path, folder)).href === new URL(sheet, folder).href,
        );
        if (!found) continue;
        const [, name = ''] = found;
        for (const [, one = ''] of code.matchAll(new RegExp(`(?<!/)\\b${name}\\.(\\w+)`, 'g')))
          used.add(one);
        // A class that is selected by a property occurs as a word in the code.
        if (!code.includes(`${name}[`)) continue;
        for (const one of classes) if (new RegExp(`\\b${one}\\b`).test(code)) used.add(one);
      }
      expect([...used].sort()).toEqual([...classes].sort());
    },
  );
});
