declare module 'virtual:react-colorful.css';
declare module 'virtual:sample-chart' {
  /** As components/Bars.tsx takes it. */
  const drawing: { bars: string; looked: string; before: string };
  export default drawing;
}
