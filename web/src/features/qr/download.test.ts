import { describe, expect, it } from 'vitest';
import { fileName } from './download';

describe('a file name', () => {
  it.each([
    ['', 'my-qr-code.png'],
    ['  ', 'my-qr-code.png'],
    ['año nuevo', 'año nuevo.png'],
    ['camino.png', 'camino.png'],
    ['a/b\\c:d*e?"<f>|', 'a-b-c-d-e-f-.png'],
    ['../../etc', '-..-etc.png'],
    ['CON', 'CON-.png'],
    ['con.x', 'con-.x.png'],
    ['comino', 'comino.png'],
    ['.hidden', 'hidden.png'],
    ['a\u202egnp.exe', 'agnp.exe.png'],
    ['tab\tnew\nline', 'tabnewline.png'],
    ['???', 'my-qr-code.png'],
    ['短いリンク 👩‍🚀', '短いリンク 👩‍🚀.png'],
    ['end. . ', 'end.png'],
  ])('of %j is safe', (given, name) => expect(fileName(given, '.png')).toBe(name));

  it('is cut between characters', () => {
    const name = fileName('👩‍🚀'.repeat(60), '.svg');
    expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(204);
    expect(name).toMatch(/🚀\.svg$/u);
  });
});
