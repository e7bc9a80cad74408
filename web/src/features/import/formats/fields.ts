/** Reads single values of records, which are cells of a table or values of a JSON object. */
import type { Note } from '../parsed';

/** The value of a column or key by its normalized name; undefined where there is none. */
export type Fields = (name: string) => unknown;

export function textOf(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** Returns the text of the first of these fields that has one, else ''. */
export function firstText(field: Fields, ...names: string[]): string {
  return names.map((name) => textOf(field(name))).find((text) => text !== '') ?? '';
}

/** Whether a flag is set: `true`, `Yes`, `1`. */
export function flagOf(value: unknown): boolean {
  return /^(?:true|yes|1)$/i.test(textOf(value));
}

/**
 * Returns the items of a list: of an array (of texts, or of objects with a name), also as JSON, or
 * of a text.
 */
export function listOf(value: unknown, separator: RegExp | string): string[] {
  if (Array.isArray(value))
    return value.map((item: unknown) => textOf(isObject(item) ? item['name'] : item));
  const text = textOf(value);
  const array = arrayOf(text);
  return array ? listOf(array, separator) : text.split(separator).map((item) => item.trim());
}

function arrayOf(text: string): unknown[] | null {
  if (!text.startsWith('[')) return null;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** Returns a note if one of these fields restricts a link, or redirects some visitors elsewhere. */
export function conditionsOf(...values: readonly unknown[]): Note[] {
  return values.some(isSet) ? ['conditions-dropped'] : [];
}

function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(isSet);
  return !/^(?:|0|false|no|null)$/i.test(textOf(value));
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
