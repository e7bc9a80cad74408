import { describe, expect, it } from 'vitest';
import { brightness, colorFault, mendColors } from './colors';

describe('colors', () => {
  it('are checked and fixed by their measured distance', () => {
    const some = ['#000000', '#ffffff', '#ff0000', '#00ff00', '#0000ff', '#ffff00', '#777777'];
    for (const foreground of some) {
      for (const background of some) {
        const mended = mendColors({ foreground, background });
        expect(colorFault(mended)).toBeNull();
        expect(brightness(mended.background)).toBeGreaterThan(brightness(mended.foreground));
      }
    }
    expect(colorFault({ foreground: '#000000', background: '#ff0000' })).toBe('close');
    expect(colorFault({ foreground: '#ffffff', background: '#000000' })).toBe('inverted');
  });
});
