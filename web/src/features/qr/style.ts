import type { Level } from './symbol';

export const moduleShapes = ['square', 'rounded', 'dots'] as const;
export const frameShapes = ['square', 'rounded'] as const;
export const ballShapes = ['square', 'rounded', 'circle'] as const;
export const gradientKinds = ['linear', 'radial'] as const;

export type ModuleShape = (typeof moduleShapes)[number];
export type FrameShape = (typeof frameShapes)[number];
export type BallShape = (typeof ballShapes)[number];
export type GradientKind = (typeof gradientKinds)[number];

/** The frame or the ball of the three eyes. */
export interface EyePart<Shape extends BallShape = BallShape> {
  shape: Shape;
  /** As the modules' where it is null. */
  color: string | null;
}

/** How a code looks, whatever it says. Colours are #rrggbb. */
export interface Style {
  foreground: string;
  background: string;
  /** What the foreground turns into. */
  second: { kind: GradientKind; color: string } | null;
  modules: ModuleShape;
  eyeFrame: EyePart<FrameShape>;
  eyeBall: EyePart;
  /** The words in a frame around the code; null for no frame. */
  caption: string | null;
  /** Automatic where it is null. */
  level: Level | null;
  quietZone: boolean;
}

export const BLACK = '#000000';
export const WHITE = '#ffffff';

/** What the page begins with. */
export const PLAIN: Style = {
  foreground: BLACK,
  background: WHITE,
  second: null,
  modules: 'square',
  eyeFrame: { shape: 'square', color: null },
  eyeBall: { shape: 'square', color: null },
  caption: null,
  level: null,
  quietZone: false,
};

/** Code points of the words in a frame, at most. */
export const LONGEST_CAPTION = 30;

/** Modules around a code that must be told from what is around it. */
const QUIET_ZONE = 4;

/** Modules of background around the code. A frame is dark, so that a code in one needs them. */
export function marginOf({ background, caption, quietZone }: Style): number {
  return quietZone || background !== WHITE || caption !== null ? QUIET_ZONE : 0;
}

/** Whether it is squares of one colour and nothing more: all that the plain canvas can draw. */
export function isPlainDrawing({ second, modules, eyeFrame, eyeBall, caption }: Style): boolean {
  const plainEye = ({ shape, color }: EyePart) => shape === 'square' && color === null;
  return (
    second === null &&
    modules === 'square' &&
    plainEye(eyeFrame) &&
    plainEye(eyeBall) &&
    caption === null
  );
}

/** All that is drawn on the background and has to be told from it. */
export function inksOf({ foreground, second, eyeFrame, eyeBall }: Style): string[] {
  const inks = [foreground, second?.color, eyeFrame.color, eyeBall.color];
  return inks.filter((ink) => typeof ink === 'string');
}
