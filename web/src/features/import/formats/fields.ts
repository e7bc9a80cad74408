/** Reads single values of records, which are cells of a table or values of a JSON object. */

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

/** Returns the items of a list: of an array (of texts, or of objects with a name), or of a text. */
export function listOf(value: unknown, separator: RegExp | string): string[] {
  if (Array.isArray(value))
    return value.map((item: unknown) => textOf(isObject(item) ? item['name'] : item));
  return textOf(value)
    .split(separator)
    .map((item) => item.trim());
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
