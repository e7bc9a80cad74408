import { contrasted } from './colors';
import { type Design, type Logo, symbolOf } from './drawing';
import { marginOf, PLAIN, type Style } from './style';
import { levels } from './symbol';

/** A design that may bear more than the one it comes of. */
export interface Better {
  /** What is done to it. */
  words: string;
  design: Design;
}

/** Of its width and height, what stays of a logo that is made smaller. */
const SMALLER = 0.7;

/** What may mend a design, the least of it first. Each text fits; none is what it was. */
export function betterDesigns(design: Design): Better[] {
  const { style, logo } = design;
  const styled = (words: string, part: Partial<Style>): Better => ({
    words,
    design: { ...design, style: { ...style, ...part } },
  });
  const better: Better[] = [];
  const { level } = symbolOf(design);
  for (const higher of levels.slice(levels.indexOf(level) + 1)) {
    better.push(styled('More error correction', { level: higher }));
  }
  if (marginOf(style) === 0) better.push(styled('Larger quiet zone', { quietZone: true }));
  better.push(styled('More contrast', contrasted(style)));
  if (logo) better.push({ words: 'Smaller image', design: { ...design, logo: shrunk(logo) } });
  better.push(
    styled('Plainer shapes', {
      modules: PLAIN.modules,
      eyeFrame: { ...style.eyeFrame, shape: PLAIN.eyeFrame.shape },
      eyeBall: { ...style.eyeBall, shape: PLAIN.eyeBall.shape },
    }),
    styled('Use automatic error correction', { level: null }),
    styled('Use the plain style', { ...PLAIN, level: style.level }),
  );
  if (logo) better.push({ words: 'Remove the image', design: { ...design, logo: undefined } });
  return better.filter(
    (one) => symbolOf(one.design).modules !== null && !isSame(one.design, design),
  );
}

function shrunk({ src, width, height }: Logo): Logo {
  return { src, width: width * SMALLER, height: height * SMALLER };
}

function isSame(one: Design, other: Design): boolean {
  return one.logo === other.logo && JSON.stringify(one.style) === JSON.stringify(other.style);
}
