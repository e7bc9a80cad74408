import type { Level } from './symbol';

export const moduleShapes = ['square', 'rounded', 'dots'] as const;
export const frameShapes = ['square', 'rounded'] as const;
export const ballShapes = ['square', 'rounded', 'circle'] as const;
export const gradientKinds = ['linear', 'radial'] as const;

export type ModuleShape = (typeof moduleShapes)[number];
export type FrameShape = (typeof frameShapes)[number];
export type BallShape = (typeof ballShapes)[number];
export type GradientKind = (typeof gradientKinds)[number];

/** The style of the frame or the ball of the three eyes (finder patterns). */
export interface EyePart<Shape extends BallShape = BallShape> {
  shape: Shape;
  /** Null for the color of the modules. */
  color: string | null;
}

/** The appearance of a code, regardless of its content. Colors are #rrggbb. */
export interface Style {
  foreground: string;
  background: string;
  /** The gradient from the foreground to a second color; null for none. */
  second: { kind: GradientKind; color: string } | null;
  modules: ModuleShape;
  eyeFrame: EyePart<FrameShape>;
  eyeBall: EyePart;
  /** The text in a frame around the code; null for no frame. */
  caption: string | null;
  /** The error correction level; null selects it automatically. */
  level: Level | null;
  quietZone: boolean;
}

export const BLACK = '#000000';
export const WHITE = '#ffffff';

/** The initial style. */
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

/** Maximum length of a caption in code points. */
export const MAX_CAPTION_LENGTH = 30;

/** Width of the quiet zone in modules. */
const QUIET_ZONE = 4;

/** Returns the modules of background around the code. A frame is dark, so it needs a quiet zone. */
export function marginOf({ background, caption, quietZone }: Style): number {
  return quietZone || background !== WHITE || caption !== null ? QUIET_ZONE : 0;
}

/** Returns whether the style has only squares in one color, which is all that QrCanvas draws. */
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

/** Returns the colors that are drawn on the background and must contrast with it. */
export function inksOf({ foreground, second, eyeFrame, eyeBall }: Style): string[] {
  const inks = [foreground, second?.color, eyeFrame.color, eyeBall.color];
  return inks.filter((ink) => typeof ink === 'string');
}
