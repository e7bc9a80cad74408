import { memo, type Ref, useMemo } from 'react';
import { QRCodeCanvas } from 'qrcode.react';
import { alternative } from './alternative';
import { type Design, SIZE, symbolOf } from './drawing';
import { marginOf } from './style';
import { isBlank } from './symbol';
import { usePixelRatio } from './usePixelRatio';

const FILLING = { width: '100%', height: 'auto' };

/**
 * 400 pixels at every pixel ratio. The library multiplies its size by the ratio, so it is given
 * the quotient, and a hair more, because a canvas drops what stands behind the point. It draws
 * whenever it is rendered, and so is rendered only when there is something new to draw.
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
  // A code of nothing would scan as nothing: its place stays free.
  if (isBlank(design.text)) {
    return <canvas ref={ref} width={SIZE} height={SIZE} style={FILLING} aria-hidden="true" />;
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

/** The library's own names. Sizes are in pixels of a screen that has so many a point. */
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
