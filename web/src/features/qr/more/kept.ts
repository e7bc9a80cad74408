import * as v from 'valibot';
import { keepItem, readItem } from '../../../lib/storage';
import {
  ballShapes,
  frameShapes,
  gradientKinds,
  MAX_CAPTION_LENGTH,
  moduleShapes,
  type Style,
} from '../style';
import { levels } from '../symbol';

/** A style that the user saved under a name. */
export interface KeptStyle {
  name: string;
  style: Style;
}

/** Maximum number of styles in one browser. */
export const MOST_KEPT = 30;

/** Maximum length of a name in code points. */
export const LONGEST_NAME = 40;

const KEY = 'qrStyles';

const atMost = (max: number) => v.check((text: string) => Array.from(text).length <= max);
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
    caption: v.nullable(v.pipe(v.string(), atMost(MAX_CAPTION_LENGTH))),
    level: v.nullable(v.picklist(levels)),
    quietZone: v.boolean(),
  }),
});

/** Returns the styles stored in this browser, oldest first. Skips invalid entries. */
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
    // Not valid JSON. The next saved style overwrites it.
    return [];
  }
}

/** Why a style was not saved: there are `MOST_KEPT`, or the browser refuses to store data. */
export type SaveFailure = 'full' | 'refused';

/** Saves a style and replaces one of the same name. Returns null on success. */
export function keepStyle(name: string, style: Style): SaveFailure | null {
  const others = keptStyles().filter((kept) => kept.name !== name);
  if (others.length >= MOST_KEPT) return 'full';
  return write([...others, { name, style }]) ? null : 'refused';
}

/** Deletes a style; returns whether the change was stored. */
export function deleteStyle(name: string): boolean {
  return write(keptStyles().filter((kept) => kept.name !== name));
}

function write(kept: KeptStyle[]): boolean {
  return keepItem(KEY, JSON.stringify(kept));
}
