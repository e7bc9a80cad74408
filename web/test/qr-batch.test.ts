// @vitest-environment node
/** Lists become rows, and rows names of files. */
import { describe, expect, it } from 'vitest';
import { uniqueNames } from '../src/features/qr/batch/names';
import { decodeList, readRows } from '../src/features/qr/batch/rows';

const rowsOf = (list: string) => readRows(list).rows.map(({ name, content }) => [name, content]);
const causesOf = (list: string) =>
  readRows(list).failures.map(({ number, cause }) => [number, cause]);

describe('a list', () => {
  it.each([
    ['lines', 'Door,https://x.org/a\nTable,https://x.org/b'],
    ['lines of Windows', 'Door,https://x.org/a\r\nTable,https://x.org/b\r\n'],
    ['cells of a spreadsheet', 'Door\thttps://x.org/a\nTable\thttps://x.org/b'],
    ['semicolons', 'Door;https://x.org/a\nTable;https://x.org/b'],
    ['quotation marks', '"Door","https://x.org/a"\n"Table","https://x.org/b"'],
    ['a header', 'Name,Content\nDoor,https://x.org/a\nTable,https://x.org/b'],
    ['a mark of byte order', '\ufeffDoor,https://x.org/a\nTable,https://x.org/b'],
    ['room and empty lines', '\n Door , https://x.org/a \n\n,\nTable,https://x.org/b\n \n'],
    ['an empty column', 'Door,https://x.org/a,\nTable,https://x.org/b,'],
  ])('of %s has its rows', (_name, list) =>
    expect(rowsOf(list)).toEqual([
      ['Door', 'https://x.org/a'],
      ['Table', 'https://x.org/b'],
    ]),
  );

  it('may have contents without names', () =>
    expect(rowsOf('https://x.org/a\nhttps://x.org/b')).toEqual([
      ['', 'https://x.org/a'],
      ['', 'https://x.org/b'],
    ]));

  it('ends a name at what ends it, whatever the contents are full of', () => {
    const wifi = 'WIFI:T:WPA;S:a;P:b\\;c;;';
    expect(rowsOf(`Hall,${wifi}\nAttic,${wifi}`)).toEqual([
      ['Hall', wifi],
      ['Attic', wifi],
    ]);
    expect(rowsOf('A;https://x.org/?a=1,2\nB;https://x.org/?a=1,2')[0]).toEqual([
      'A',
      'https://x.org/?a=1,2',
    ]);
    expect(rowsOf('"Door, front","a\nb, ""c"""')).toEqual([['Door, front', 'a\nb, "c"']]);
  });

  it('names the rows that fail, with their causes', () => {
    expect(causesOf('A,x\nB,\nC,x,y\n\nD,x')).toEqual([
      [2, 'It has no content.'],
      [
        3,
        'It has 3 columns, not two: content with a comma, a semicolon or a tab in it stands in quotation marks.',
      ],
    ]);
    expect(rowsOf('A,x\nB,\nC,x,y\n\nD,x')).toEqual([
      ['A', 'x'],
      ['D', 'x'],
    ]);
    expect(causesOf('A,x\nB,"y\nC,z')).toEqual([[2, 'A quotation mark is not closed.']]);
  });

  it('of a file is read in the encoding that it is in', () => {
    const list = 'Año,5 ñ';
    const utf16 = (order: boolean) => {
      const view = new DataView(new ArrayBuffer(2 * list.length + 2));
      Array.from(`\ufeff${list}`).forEach((one, at) =>
        view.setUint16(2 * at, one.charCodeAt(0), order),
      );
      return new Uint8Array(view.buffer);
    };
    const western = Uint8Array.from([0x41, 0xf1, 0x6f, 0x2c, 0x35, 0x20, 0xf1]);
    for (const file of [new TextEncoder().encode(list), utf16(true), utf16(false), western]) {
      expect(decodeList(file)).toBe(list);
    }
  });
});

describe('names of files', () => {
  it('are safe, and none twice in whatever capitals', () => {
    const given = [
      'Door',
      'door',
      'Door',
      'door-2',
      'a/b',
      'a:b',
      '',
      '',
      '../x',
      'CON',
      'é',
      'e\u0301',
    ];
    const names = uniqueNames(given, '.png');
    expect(names).toEqual([
      'Door.png',
      'door-2.png',
      'Door-3.png',
      'door-2-2.png',
      'a-b.png',
      'a-b-2.png',
      'my-qr-code.png',
      'my-qr-code-2.png',
      '-x.png',
      'CON-.png',
      'é.png',
      'é-2.png',
    ]);
  });

  it('of 500 rows of one name are 500', () =>
    expect(
      new Set(
        uniqueNames(
          Array.from({ length: 500 }, () => 'x'),
          '.png',
        ),
      ).size,
    ).toBe(500));
});
