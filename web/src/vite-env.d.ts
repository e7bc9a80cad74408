declare module 'punycode.js' {
  /**
   * Returns a host with its Punycode labels (`xn--`) decoded. Throws a RangeError if one is
   * invalid.
   */
  export function toUnicode(host: string): string;
}
declare module 'virtual:react-colorful.css';
declare module 'virtual:languages' {
  /** The tags and names of all languages, the default first. */
  const languages: readonly (readonly [tag: string, name: string])[];
  export default languages;
}
declare module 'virtual:sample-chart' {
  /** The `drawing` of components/Bars.tsx. */
  const drawing: { bars: string; looked: string; before: string };
  export default drawing;
}
