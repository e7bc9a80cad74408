/** All services, those with more specific columns first. */
import type { Source } from '../../parsed';
import { atajo } from './atajo';
import { bitly } from './bitly';
import { chhoto } from './chhoto';
import { dub } from './dub';
import { kutt } from './kutt';
import { polr } from './polr';
import { rebrandly } from './rebrandly';
import type { Has, Service } from './service';
import { shlink } from './shlink';
import { shortio } from './shortio';
import { sink } from './sink';
import { spoo } from './spoo';
import { tinycc } from './tinycc';
import { tinyurl } from './tinyurl';
import { yourls } from './yourls';

export type { Service };

const SERVICES: readonly Service[] = [
  atajo,
  polr,
  shlink,
  dub,
  bitly,
  shortio,
  rebrandly,
  yourls,
  tinycc,
  kutt,
  chhoto,
  tinyurl,
  spoo,
  sink,
];

/** The service whose table has these normalized headers. */
export function serviceOfTable(headers: readonly string[]): Service | undefined {
  const has = inList(headers);
  return SERVICES.find(({ isTable }) => isTable?.(has));
}

/** The service whose JSON objects have these normalized keys. */
export function serviceOfEntry(keys: readonly string[]): Service | undefined {
  const has = inList(keys);
  return SERVICES.find(({ isEntry }) => isEntry?.(has));
}

export function serviceNamed(source: Source | undefined): Service | undefined {
  return SERVICES.find((service) => service.source === source);
}

function inList(names: readonly string[]): Has {
  return (...required) => required.every((name) => names.includes(name));
}
