/**
 * Returns the length of a text in Unicode code points, as in the limits shown to users, not in
 * UTF-16 units.
 */
export function codePoints(text: string): number {
  return Array.from(text).length;
}
