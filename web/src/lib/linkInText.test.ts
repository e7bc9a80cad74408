// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { linkInText } from './linkInText';

const A = 'https://ex.example/a';

describe('a URL in a text', () => {
  it.each([
    [
      '…快来看吧！ http://ex.example/a/Ab12，复制本条信息，打开【App】查看精彩内容！',
      'http://ex.example/a/Ab12',
    ],
    ['看（https://ex.example/a）吧', A],
    ['看https://ex.example/a。', A],
    ['「https://ex.example/a」をご覧ください', A],
    ['https://ex.example/a、https://ex.example/b', A],
    ['https://ex.example/a｜題名', A],
    ['https://ex.example/a：題名', A],
    ['【https://ex.example/a】', A],
    ['《https://ex.example/a》', A],
    ['https://ex.example/a！？', A],
    ['“https://ex.example/a”', A],
    ['«https://ex.example/a»', A],
    ['„https://ex.example/a“', A],
    ['‚https://ex.example/a‘', A],
    ['https://ex.example/a﹐b', A],
    ['https://ex.example/a︒b', A],
    ['https://ex.example/a｡b', A],
  ])('ends before full-width punctuation, quotes and brackets: %s', (text, link) => {
    expect(linkInText(text)).toBe(link);
  });

  it.each([
    'Read this: https://ex.example/a.',
    'Have you read https://ex.example/a?',
    'https://ex.example/a!!!',
    'https://ex.example/a, and more',
    'https://ex.example/a; https://ex.example/b',
    'https://ex.example/a: a title',
    'https://ex.example/a...',
    'https://ex.example/a…',
    'https://ex.example/a،',
    'https://ex.example/a؟ نعم',
    'https://ex.example/a।',
    'https://ex.example/a.\u200e',
    'https://ex.example/a\u200b',
    "'https://ex.example/a'",
    "'https://ex.example/a'.",
    '‘https://ex.example/a’,',
    '`https://ex.example/a`',
    '"https://ex.example/a".',
    '<https://ex.example/a>',
    '<a href="https://ex.example/a">',
  ])('loses the final marks of a sentence: %s', (text) => {
    expect(linkInText(text)).toBe(A);
  });

  it.each([
    ['(https://ex.example/a)', A],
    ['(https://ex.example/a).', A],
    ['(See https://ex.example/a.)', A],
    ['[A title](https://ex.example/a)', A],
    ['[A title](https://ex.example/a)和', A],
    ['{https://ex.example/a}', A],
    ['([https://ex.example/a])', A],
    ['https://ex.example/a(', A],
    ['https://ex.example/a(b', A],
    ['https://ex.example/a([b)', A],
    ['https://ex.example/a(b])', A],
    ['(https://ex.example/a_(b))', `${A}_(b)`],
    ['https://ex.example/a_(b).', `${A}_(b)`],
    ['https://ex.example/a_(b).c(d)', `${A}_(b).c(d)`],
    ['https://ex.example/a(b.)', `${A}(b.)`],
  ])('loses brackets without a partner: %s', (text, link) => {
    expect(linkInText(text)).toBe(link);
  });

  it.each([
    'https://ex.example/a?b[]=1&c={d}#e.f',
    "https://ex.example/?q='a'",
    "https://ex.example/it's",
    'https://fr.ex.example/L’Équipe',
    'https://ja.ex.example/ジョン・レノン',
    'https://ex.example/a–b/c.d,e;f:g!h',
    'https://ex.example/a*',
    'https://ex.example/a-',
    'https://ex.example/ａ１',
    'https://ex.example/\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
    'https://例え.example/道/々',
    'http://[2001:db8::1]:8080/x',
    'HTTPS://EX.example',
    'https://ex.example/😀',
  ])('keeps its inside: %s', (link) => {
    expect(linkInText(`See ${link} now`)).toBe(link);
  });

  it('is the first that has a host', () => {
    expect(linkInText('http://，https://. https://ex.example/a')).toBe(A);
  });

  it.each(['', 'ex.example', 'https://', 'ftp://ex.example', 'https://，', 'http://)'])(
    'is missing: %s',
    (text) => {
      expect(linkInText(text)).toBeNull();
    },
  );

  it.each(['.', '(', ')', '()', "'", 'http://', 'http://[', '\u200b', '，'])(
    'is found in a long text of %s in linear time',
    (part) => {
      // Quadratic time would take minutes.
      const text = `${part.repeat(200_000)} x`;
      expect(linkInText(`https://ex.example/${text}`)).toMatch(/^https:\/\/ex\.example\//);
    },
  );
});
