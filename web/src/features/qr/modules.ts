import { encode } from 'uqr';
import type { QrSymbol } from './symbol';

/** Rows of modules; true is dark. */
export type Modules = readonly (readonly boolean[])[];

/**
 * The symbol of a text, module by module. The library that draws the plain canvas gives its own to
 * nobody; this one is of the same origin and finds the same one, masks included. Throws where the
 * text does not fit.
 */
export function modulesOf(text: string, { level, raised, leastVersion }: QrSymbol): Modules {
  const options = { ecc: level, boostEcc: raised, minVersion: leastVersion, border: 0 };
  return encode(text, options).data;
}
