import { memo, type Ref, useMemo } from 'react';
import { QRCodeCanvas } from 'qrcode.react';
import { alternative } from './alternative';
import { type Design, SIZE, symbolOf } from './drawing';
import { marginOf } from './style';
import styles from './QrCanvas.module.css';
import { isBlank } from './symbol';
import { usePixelRatio } from './usePixelRatio';

const FILLING = { width: '100%', height: 'auto' };

/**
 * Draws a code in a plain style with qrcode.react, 400 pixels at every pixel ratio.
 *
 * The library multiplies its size by the ratio, so it gets the quotient, and slightly more, because
 * a canvas truncates its size. It draws on every render, so it renders only if something changed.
 */
export const QrCanvas = memo(function QrCanvas({
  ref,
  design,
}: {
  ref: Ref<HTMLCanvasElement>;
  design: Design;
}) {
  const ratio = usePixelRatio();
  const props = useMemo(() => canvasProps(design, ratio), [design, ratio]);
  // Without text there is no code: the canvas stays empty.
  if (isBlank(design.text)) {
    return (
      <canvas ref={ref} width={SIZE} height={SIZE} className={styles.blank} aria-hidden="true" />
    );
  }
  return (
    <QRCodeCanvas
      ref={ref}
      size={(SIZE + 1e-6) / ratio}
      aria-label={alternative(design.text)}
      style={FILLING}
      {...props}
    />
  );
});

/** Returns the props of the library. Sizes are in CSS pixels at the pixel ratio. */
function canvasProps(design: Design, ratio: number) {
  const { text, style, logo } = design;
  const { level, raised, leastVersion } = symbolOf(design);
  const image = logo && {
    src: logo.src,
    width: logo.width / ratio,
    height: logo.height / ratio,
    excavate: true,
  };
  return {
    value: text,
    level,
    boostLevel: raised,
    minVersion: leastVersion,
    fgColor: style.foreground,
    bgColor: style.background,
    marginSize: marginOf(style),
    ...(image && { imageSettings: image }),
  };
}
