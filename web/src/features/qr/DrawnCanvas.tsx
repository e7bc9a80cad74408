import { memo, type RefObject, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { alternative } from './alternative';
import { type Design, type Drawing, SIZE } from './drawing';
import { paint } from './paint';
import styles from './DrawnCanvas.module.css';

interface DrawnCanvasProps {
  canvas: RefObject<HTMLCanvasElement | null>;
  design: Design;
  /** Makes its drawing. */
  draw: (design: Design) => Drawing;
}

/** Nothing can be done with it. */
const LOOKED_AT = { role: 'img' };

/** A code with any text in any style, 400 pixels at every pixel ratio. Its text fits. */
export const DrawnCanvas = memo(function DrawnCanvas({ canvas, design, draw }: DrawnCanvasProps) {
  const image = useRef<HTMLImageElement>(null);
  /** The logo that has come. */
  const [loaded, setLoaded] = useState<string>();
  const drawing = useMemo(() => draw(design), [design, draw]);
  const src = drawing.logo?.src;

  useLayoutEffect(() => {
    const pen = canvas.current?.getContext('2d');
    const logo = loaded === src ? image.current : null;
    if (pen) paint(pen, SIZE, drawing, logo ?? undefined);
  }, [canvas, drawing, loaded, src]);

  return (
    <>
      <canvas
        ref={canvas}
        width={SIZE}
        height={SIZE}
        className={styles.canvas}
        {...LOOKED_AT}
        aria-label={alternative(design.text)}
      />
      {src !== undefined && (
        <img ref={image} key={src} src={src} alt="" hidden onLoad={() => setLoaded(src)} />
      )}
    </>
  );
});
