import { memo, type Ref, useMemo } from 'react';
import { QRCodeCanvas } from 'qrcode.react';
import { formatNumber } from '../../lib/format';
import { type Drawing, drawingProps, SIZE } from './drawing';
import { isBlank, wellFormed } from './symbol';
import { usePixelRatio } from './usePixelRatio';

/** Of a text this long a screen reader hears the beginning. */
const SPOKEN = 300;

const FILLING = { width: '100%', height: 'auto' };

/**
 * 400 pixels at every pixel ratio. The library multiplies its size by the ratio, so it is given
 * the quotient, and a hair more, because a canvas drops what stands behind the point. It draws
 * whenever it is rendered, and so is rendered only when there is something new to draw.
 */
export const QrCanvas = memo(function QrCanvas({
  ref,
  drawing,
}: {
  ref: Ref<HTMLCanvasElement>;
  drawing: Drawing;
}) {
  const ratio = usePixelRatio();
  const props = useMemo(() => drawingProps(drawing, ratio), [drawing, ratio]);
  // A code of nothing would scan as nothing: its place stays free.
  if (isBlank(drawing.text)) {
    return <canvas ref={ref} width={SIZE} height={SIZE} style={FILLING} aria-hidden="true" />;
  }
  return (
    <QRCodeCanvas
      ref={ref}
      size={(SIZE + 1e-6) / ratio}
      aria-label={alternative(drawing.text)}
      style={FILLING}
      {...props}
    />
  );
});

function alternative(text: string): string {
  if (text.length <= SPOKEN) return `QR code of ${text}`;
  const length = formatNumber(text.length);
  return `QR code of a text of ${length} characters that begins ${wellFormed(text.slice(0, SPOKEN))}`;
}
