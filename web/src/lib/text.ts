/** Length as people's limits mean it: in Unicode code points, not in UTF-16 units. */
export function codePoints(text: string): number {
  return Array.from(text).length;
}
