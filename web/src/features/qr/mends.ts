import { contrasted } from './colors';
import { type Design, type Logo, symbolOf } from './drawing';
import { fixes } from './messages';
import { marginOf, PLAIN, type Style } from './style';
import { levels } from './symbol';

/** A changed design that may scan better than the original. */
export interface Improvement {
  /** The change, as the page describes it. */
  words: string;
  design: Design;
}

/** Scale of the width and height of a logo that is made smaller. */
const LOGO_SCALE = 0.7;

/**
 * Returns designs that may scan better, the smallest change first. Each differs from the original,
 * and its text fits.
 */
export function betterDesigns(design: Design): Improvement[] {
  const { style, logo } = design;
  const styled = (words: string, part: Partial<Style>): Improvement => ({
    words,
    design: { ...design, style: { ...style, ...part } },
  });
  const better: Improvement[] = [];
  const { level } = symbolOf(design);
  for (const higher of levels.slice(levels.indexOf(level) + 1)) {
    better.push(styled(fixes.errorCorrection, { level: higher }));
  }
  if (marginOf(style) === 0) better.push(styled(fixes.quietZone, { quietZone: true }));
  better.push(styled(fixes.contrast, contrasted(style)));
  if (logo) better.push({ words: fixes.smallerImage, design: { ...design, logo: shrunk(logo) } });
  better.push(
    styled(fixes.shapes, {
      modules: PLAIN.modules,
      eyeFrame: { ...style.eyeFrame, shape: PLAIN.eyeFrame.shape },
      eyeBall: { ...style.eyeBall, shape: PLAIN.eyeBall.shape },
    }),
    styled(fixes.automaticErrorCorrection, { level: null }),
    styled(fixes.plainStyle, { ...PLAIN, level: style.level }),
  );
  if (logo) better.push({ words: fixes.removeImage, design: { ...design, logo: undefined } });
  return better.filter(
    (one) => symbolOf(one.design).modules !== null && !isSame(one.design, design),
  );
}

function shrunk({ src, width, height }: Logo): Logo {
  return { src, width: width * LOGO_SCALE, height: height * LOGO_SCALE };
}

function isSame(one: Design, other: Design): boolean {
  return one.logo === other.logo && JSON.stringify(one.style) === JSON.stringify(other.style);
}
