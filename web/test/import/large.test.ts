// @vitest-environment node
/** Files at the limits: 100,000 rows, megabytes in one cell or attribute, and hostile repetitions. */
import { describe, expect, it } from 'vitest';
import { read } from '../../src/features/import/read';

const NOW = Date.UTC(2026, 0, 1);
/** Maximum milliseconds for a file on a slow machine. Each takes a fraction of that. */
const LIMIT = 30_000;

const readText = (text: string) => read(new TextEncoder().encode(text), { now: NOW });
const repeat = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('');

describe('large files', () => {
  it('reads 100,000 rows and counts those beyond', () => {
    const line = (index: number) =>
      `code-${index},https://large.example/${index},"Title, ${index}",2020-01-01 00:00:00,,0\n`;
    const text = `keyword,url,title,timestamp,ip,clicks\n${repeat(100_003, line)}`;
    const { rows, problems, questions } = readText(text);
    expect(rows).toHaveLength(100_000);
    expect(rows.at(-1)).toMatchObject({ row: 100_000, place: 100_001, code: 'code-99999' });
    expect(problems).toEqual([{ code: 'too-many-rows', count: 3 }]);
    expect(questions.zone).toEqual({ count: 100_003 });
  });

  it('refuses a file of more than 50 MB', () => {
    const { rows, problems } = read(new Uint8Array(50 * 1024 * 1024 + 1), { now: NOW });
    expect(rows).toEqual([]);
    expect(problems).toEqual([{ code: 'too-large', count: 1 }]);
  });

  it('skips an icon of 5 MB', () => {
    const icon = `data:image/png;base64,${'A'.repeat(5_000_000)}`;
    const { rows } = readText(
      `<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n<DT><A HREF="https://icon.example/" ADD_DATE="1456433741" ICON="${icon}">Icon</A>\n<DT><A HREF="https://next.example/">Next</A>\n</DL>`,
    );
    expect(rows.map(({ title }) => title)).toEqual(['Icon', 'Next']);
    expect(JSON.stringify(rows).length).toBeLessThan(1_000);
  });

  it('continues after a quotation mark that is never closed', () => {
    const line = (index: number) => `code-${index},https://large.example/${index},"fine"\n`;
    const text = `Slug,Target URL,Title\nbad,"https://large.example/,\n${repeat(50_000, line)}`;
    const { rows } = readText(text);
    expect(rows).toHaveLength(50_001);
    expect(rows.filter(({ unreadable }) => unreadable !== null)).toHaveLength(1);
  });
});

describe('hostile files', () => {
  it.each([
    ['quotation marks', '"'.repeat(1_000_000)],
    ['unclosed quotation marks', `a,b\n${'x,"y\n'.repeat(200_000)}`],
    ['brackets', '['.repeat(1_000_000)],
    ['objects', '{"a":'.repeat(300_000)],
    ['JSON strings', `[${'"\n'.repeat(300_000)}`],
    ['blanks', `a${' '.repeat(1_000_000)}b`],
    ['slashes', `url,code\nhttps://a.example,${'/'.repeat(900_000)}x`],
    ['SQL quotes', `INSERT INTO links VALUES(${"'\\".repeat(500_000)}`],
    ['SQL comments', '/*'.repeat(500_000)],
    ['folders', '<DL><DT><A HREF="x">'.repeat(2_000)],
    ['unclosed tags', `<DL>${'<a '.repeat(300_000)}`],
    ['separators', ','.repeat(1_000_000)],
  ])('reads %s in time', (_name, text) => {
    const start = performance.now();
    readText(text);
    expect(performance.now() - start).toBeLessThan(LIMIT);
  });
});
