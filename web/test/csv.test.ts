// @vitest-environment node
import Papa from 'papaparse';
import { describe, expect, it } from 'vitest';
import { csvLine, splitList, undoFormula, undoFormulas } from '../src/lib/csv';
import { Random } from './import/generate';

const SIGNS = Array.from('\'"=+-@＝,; \t\n\ra1é');
const PARTS = [...SIGNS, '""', ';=', ';"=', "';", '=1+1'];
const FORMULA = /^[\s"]*[=+\-@＝＋－＠]/;

const cellsOf = (line: string, delimiter: string) =>
  Papa.parse<string[]>(line, { delimiter, newline: '\r\n' }).data.flat();

describe('a line of a CSV file', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['x;=1+1;y', `"x;'=1+1;y"`],
    ['x; "=1+1"', `"x;' ""=1+1"""`],
    ['x\n@SUM(A1)', `"x\n'@SUM(A1)"`],
    ["x;'=1+1", `"x;''=1+1"`],
    ['a;b', '"a;b"'],
    ['a=1, b-c', '"a=1, b-c"'],
    [-1, '-1'],
  ])('guards %j', (given, written) => expect(csvLine([given])).toBe(`${written}\r\n`));

  it('has no formula for spreadsheets that split at commas or at semicolons', () => {
    const random = new Random(7);
    for (let run = 0; run < 3_000; run += 1) {
      const texts = Array.from({ length: 3 }, () => random.text(PARTS, random.below(8)));
      const line = csvLine(['code', ...texts]);
      const cells = cellsOf(line, ',');
      for (const cell of cells) expect(cell).not.toMatch(FORMULA);
      // A program that splits at semicolons sees no quotation marks before a first one.
      for (const cell of line.split(/[;\r\n]/)) expect(cell).not.toMatch(FORMULA);
      expect(cells.slice(1, 4).map(undoFormulas)).toEqual(texts);
    }
  });

  it('has the items of a list in one cell', () => {
    const items = ['a', '=b', 'c;-d', '"e', "'=f"];
    const [cell = ''] = cellsOf(csvLine([items]), ',');
    expect(splitList(undoFormulas(cell))).toEqual(items);
  });
});

it.each([
  ["'=1+1", '=1+1'],
  ["'-f12345", '-f12345'],
  ["''=1", "'=1"],
  ["'tis", "'tis"],
  ["a;'=1", "a;'=1"],
])('the guard of other programs is removed from %j', (given, text) =>
  expect(undoFormula(given)).toBe(text),
);
