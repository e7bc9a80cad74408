// @vitest-environment node
/** Parses lists into rows, and rows into file names. */
import { describe, expect, it } from 'vitest';
import { uniqueNames } from '../src/features/qr/batch/names';
import { decodeList, readRows } from '../src/features/qr/batch/rows';

const rowsOf = (list: string) => readRows(list).rows.map(({ name, content }) => [name, content]);
const causesOf = (list: string) =>
  readRows(list).failures.map(({ number, cause }) => [number, cause]);

describe('a list', () => {
  it.each([
    ['lines', 'Door,https://x.org/a\nTable,https://x.org/b'],
    ['Windows line ends', 'Door,https://x.org/a\r\nTable,https://x.org/b\r\n'],
    ['cells of a spreadsheet', 'Door\thttps://x.org/a\nTable\thttps://x.org/b'],
    ['semicolons', 'Door;https://x.org/a\nTable;https://x.org/b'],
    ['quotation marks', '"Door","https://x.org/a"\n"Table","https://x.org/b"'],
    ['a header', 'Name,Content\nDoor,https://x.org/a\nTable,https://x.org/b'],
    ['a byte order mark', '\ufeffDoor,https://x.org/a\nTable,https://x.org/b'],
    ['spaces and empty lines', '\n Door , https://x.org/a \n\n,\nTable,https://x.org/b\n \n'],
    ['an empty column', 'Door,https://x.org/a,\nTable,https://x.org/b,'],
  ])('of %s is split into rows', (_name, list) =>
    expect(rowsOf(list)).toEqual([
      ['Door', 'https://x.org/a'],
      ['Table', 'https://x.org/b'],
    ]),
  );

  it('can contain contents without names', () =>
    expect(rowsOf('https://x.org/a\nhttps://x.org/b')).toEqual([
      ['', 'https://x.org/a'],
      ['', 'https://x.org/b'],
    ]));

  it('splits off the name at the delimiter, whatever the contents contain', () => {
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

  it.each([
    ['a tab', 'Müller, Hans\thttps://x.org/1\nMüller, Eva\thttps://x.org/2'],
    ['semicolons', 'Müller, Hans;https://x.org/1\nMüller, Eva;https://x.org/2'],
    [
      'semicolons and a header',
      'Name;URL\nMüller, Hans;https://x.org/1\nMüller, Eva;https://x.org/2',
    ],
    ['commas', '"Müller, Hans",https://x.org/1\n"Müller, Eva",https://x.org/2'],
    ["Excel's directive", 'sep=;\nMüller, Hans;https://x.org/1\nMüller, Eva;https://x.org/2'],
    [
      "Excel's directive, quoted",
      '"sep=;"\r\nMüller, Hans;https://x.org/1\r\nMüller, Eva;https://x.org/2',
    ],
  ])('with commas in its names is split at %s correctly', (_name, list) =>
    expect(rowsOf(list)).toEqual([
      ['Müller, Hans', 'https://x.org/1'],
      ['Müller, Eva', 'https://x.org/2'],
    ]),
  );

  it.each([
    ['A,https://x.org/a;b=1\nB,https://x.org/c;d=2', 'https://x.org/a;b=1'],
    ['A;https://x.org/a,b\nB;https://x.org/c,d', 'https://x.org/a,b'],
    ['A\thttps://x.org/a,b;c\nB\thttps://x.org/a,b;d', 'https://x.org/a,b;c'],
    ['A,Visit us; https://x.org\nB,Hello', 'Visit us; https://x.org'],
    ['A;geo:40.4,-3.7\nB;geo:40.5,-3.8', 'geo:40.4,-3.7'],
    ['A,tel:+15551234567;ext=12\nB,tel:+34600123456', 'tel:+15551234567;ext=12'],
  ])('keeps delimiters inside contents: %j', (list, content) =>
    expect(rowsOf(list)[0]).toEqual(['A', content]),
  );

  it.each([
    'https://x.org/a,b',
    'https://x.org/a;b=1',
    'https://x.org/a,b,c;d',
    'HTTPS://X.ORG/A,B',
    'geo:40.4168,-3.7038',
    'mailto:a@x.org?cc=b@x.org,c@x.org',
    'tel:+15551234567;ext=12',
    'WIFI:T:WPA;S:Ana’s iPhone;P:a,b;;',
  ])('of contents only does not split %j', (content) => {
    for (const other of ['https://x.org/', 'https://x.org/e,f', 'https://x.org/g;h']) {
      expect(rowsOf(`${content}\n${other}`)).toEqual([
        ['', content],
        ['', other],
      ]);
    }
    expect(rowsOf(content)).toEqual([['', content]]);
    // An empty column.
    expect(rowsOf(`https://x.org/,\nhttps://x.org/b,`)).toEqual([
      ['', 'https://x.org/'],
      ['', 'https://x.org/b'],
    ]);
  });

  it.each([
    'Name,Content\nA,x',
    'Filename,URL\nA,x',
    'Nombre;Enlace\nA;https://x.org/a',
    'Dateiname;Adresse\nA;https://x.org/a\nB;https://x.org/b',
    'URL\nhttps://x.org/a\nhttps://x.org/b',
  ])('recognizes the first row of %j as the header', (list) => {
    const { rows, notes } = readRows(list);
    expect(notes).toEqual(['Row 1 is the header and is skipped.']);
    expect(rows.map(({ number }) => number)).not.toContain(1);
    expect(rows.length).toBe(list.split('\n').length - 1);
  });

  it.each([
    'A,x\nB,y',
    'Hall,Hello\nA,https://x.org/a',
    'URL',
    'Table 7,7\nA,https://x.org/\nB,https://x.org/',
  ])('%j has no header', (list) => {
    expect(readRows(list).notes).toEqual([]);
    expect(rowsOf(list)).toHaveLength(list.split('\n').length);
  });

  it('counts the row that sets the delimiter', () => {
    const { rows, notes } = readRows('sep=,\nName,URL\nA,x\nB,y');
    expect(notes).toEqual([
      'Row 1 sets the delimiter and is skipped.',
      'Row 2 is the header and is skipped.',
    ]);
    expect(rows.map(({ number }) => number)).toEqual([3, 4]);
  });

  it('reports each row inside an unclosed quotation mark', () => {
    expect(causesOf('A,x\n"Q"x,y\nB,z\nC,z')).toEqual([
      [2, 'The closing quotation mark is missing.'],
      [3, 'It is inside the quotation mark that starts in row 2.'],
      [4, 'It is inside the quotation mark that starts in row 2.'],
    ]);
  });

  it('reports the order of the columns if the link comes first', () =>
    expect(causesOf('https://x.org/a,My door\nhttps://x.org/b,Your door')).toEqual([
      [1, 'Enter the name first, then the link.'],
      [2, 'Enter the name first, then the link.'],
    ]));

  it('reports the failing rows with their causes', () => {
    expect(causesOf('A,x\nB,\nC,x,y\n\nD,x')).toEqual([
      [2, 'The content is missing.'],
      [
        3,
        'It has 3 columns instead of two. Put content with commas, semicolons or tabs in quotation marks.',
      ],
    ]);
    expect(rowsOf('A,x\nB,\nC,x,y\n\nD,x')).toEqual([
      ['A', 'x'],
      ['D', 'x'],
    ]);
    expect(causesOf('A,x\nB,"y\nC,z')).toEqual([
      [2, 'The closing quotation mark is missing.'],
      [3, 'It is inside the quotation mark that starts in row 2.'],
    ]);
  });

  it('in a file is read in the encoding of the file', () => {
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
      expect(decodeList(file).text).toBe(list);
    }
    expect(decodeList(western).note).toContain('Check accented letters');
    expect(decodeList(new TextEncoder().encode(list)).note).toBe('');
    // Some programs write it without a byte order mark.
    expect(decodeList(utf16(true).slice(2))).toEqual({ text: list, note: '' });
    expect(decodeList(utf16(false).slice(2))).toEqual({ text: list, note: '' });
  });

  it.each([
    ['a zero byte between letters', [0x41, 0x2c, 0x42, 0x00, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48]],
    ['a picture', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d]],
  ])('is not read from %s', (_name, bytes) =>
    expect(() => decodeList(Uint8Array.from(bytes))).toThrow('no text'),
  );
});

describe('file names', () => {
  it('are safe, and unique regardless of case', () => {
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

  it('of 500 rows with the same name are distinct', () =>
    expect(
      new Set(
        uniqueNames(
          Array.from({ length: 500 }, () => 'x'),
          '.png',
        ),
      ).size,
    ).toBe(500));
});
