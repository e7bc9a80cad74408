import * as v from 'valibot';
import { keepItem, readItem } from '../../../lib/storage';
import {
  ballShapes,
  frameShapes,
  gradientKinds,
  LONGEST_CAPTION,
  moduleShapes,
  type Style,
} from '../style';
import { levels } from '../symbol';

/** A style under a name that a person gave it. */
export interface KeptStyle {
  name: string;
  style: Style;
}

/** Styles that one browser keeps. */
export const MOST_KEPT = 30;

/** Code points of a name. */
export const LONGEST_NAME = 40;

const KEY = 'qrStyles';

const atMost = (most: number) => v.check((text: string) => Array.from(text).length <= most);
const color = v.pipe(v.string(), v.regex(/^#[0-9a-f]{6}$/));
const keptStyle = v.object({
  name: v.pipe(v.string(), v.nonEmpty(), atMost(LONGEST_NAME)),
  style: v.object({
    foreground: color,
    background: color,
    second: v.nullable(v.object({ kind: v.picklist(gradientKinds), color })),
    modules: v.picklist(moduleShapes),
    eyeFrame: v.object({ shape: v.picklist(frameShapes), color: v.nullable(color) }),
    eyeBall: v.object({ shape: v.picklist(ballShapes), color: v.nullable(color) }),
    caption: v.nullable(v.pipe(v.string(), atMost(LONGEST_CAPTION))),
    level: v.nullable(v.picklist(levels)),
    quietZone: v.boolean(),
  }),
});

/** The styles that this browser keeps, oldest first. What was damaged is left out. */
export function keptStyles(): KeptStyle[] {
  return entries(readItem(KEY))
    .map((entry) => v.safeParse(keptStyle, entry))
    .flatMap(({ success, output }) => (success ? [output] : []))
    .slice(0, MOST_KEPT);
}

function entries(text: string | null): unknown[] {
  try {
    const stored: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(stored) ? stored : [];
  } catch {
    // Something else wrote it, or half of it: it is written anew with the next style.
    return [];
  }
}

/** Why a style was not kept: there are as many as can be, or the browser keeps nothing. */
export type NotKept = 'full' | 'refused';

/** Keeps a style, in the place of one of the same name. */
export function keepStyle(name: string, style: Style): NotKept | null {
  const others = keptStyles().filter((kept) => kept.name !== name);
  if (others.length >= MOST_KEPT) return 'full';
  return write([...others, { name, style }]) ? null : 'refused';
}

/** Lets go of a style; answers whether that lasts. */
export function deleteStyle(name: string): boolean {
  return write(keptStyles().filter((kept) => kept.name !== name));
}

function write(kept: KeptStyle[]): boolean {
  return keepItem(KEY, JSON.stringify(kept));
}
