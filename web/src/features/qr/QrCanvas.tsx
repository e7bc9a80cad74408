import { type Ref, useMemo } from 'react';
import { QRCodeCanvas } from 'qrcode.react';
import type { Level } from './capacity';
import type { Logo } from './useLogo';
import { usePixelRatio } from './usePixelRatio';

const SIZE = 400;

interface QrCanvasProps {
  ref: Ref<HTMLCanvasElement>;
  text: string;
  level: Level;
  foreground: string;
  background: string;
  /** In modules. */
  margin: number;
  logo: Logo | undefined;
}

/**
 * 400 pixels at every pixel ratio. The library multiplies its size by the ratio, so it is given
 * the quotient, and a hair more, because a canvas drops what stands behind the point.
 */
export function QrCanvas({
  ref,
  text,
  level,
  foreground,
  background,
  margin,
  logo,
}: QrCanvasProps) {
  const ratio = usePixelRatio();
  const image = useMemo(
    () =>
      logo && {
        src: logo.src,
        width: logo.width / ratio,
        height: logo.height / ratio,
        excavate: true,
      },
    [logo, ratio],
  );
  return (
    <QRCodeCanvas
      ref={ref}
      value={text}
      size={(SIZE + 1e-6) / ratio}
      level={level}
      fgColor={foreground}
      bgColor={background}
      marginSize={margin}
      aria-label={text === '' ? 'QR code without content' : `QR code of ${text}`}
      style={{ width: '100%', height: 'auto' }}
      {...(image && { imageSettings: image })}
    />
  );
}
