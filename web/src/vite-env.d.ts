declare module 'punycode.js' {
  /** A host whose labels in punycode (`xn--`) are decoded. Throws a RangeError for what is none. */
  export function toUnicode(host: string): string;
}
declare module 'virtual:react-colorful.css';
declare module 'virtual:sample-chart' {
  /** As components/Bars.tsx takes it. */
  const drawing: { bars: string; looked: string; before: string };
  export default drawing;
}
