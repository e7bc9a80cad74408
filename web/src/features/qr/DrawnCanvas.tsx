import { memo, type RefObject, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { alternative } from './alternative';
import { type Design, type Drawing, SIZE } from './drawing';
import { paint } from './paint';
import styles from './DrawnCanvas.module.css';

interface DrawnCanvasProps {
  canvas: RefObject<HTMLCanvasElement | null>;
  design: Design;
  draw: (design: Design) => Drawing;
}

/** The canvas is not interactive. */
const IMAGE_ROLE = { role: 'img' };

/** Draws a code in any style, 400 pixels at every pixel ratio. Its text must fit. */
export const DrawnCanvas = memo(function DrawnCanvas({ canvas, design, draw }: DrawnCanvasProps) {
  const image = useRef<HTMLImageElement>(null);
  /** The `src` of the logo that has loaded. */
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
        {...IMAGE_ROLE}
        aria-label={alternative(design.text)}
      />
      {src !== undefined && (
        <img ref={image} key={src} src={src} alt="" hidden onLoad={() => setLoaded(src)} />
      )}
    </>
  );
});
