import { createElement } from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { QRCodeSVG } from 'qrcode.react';
import type { Level } from './symbol';
import type { Logo } from './useLogo';

/** Pixels along a side of what is drawn and saved. */
export const SIZE = 400;

/** All that makes a code look as it does. */
export interface Drawing {
  text: string;
  level: Level;
  leastVersion: number;
  foreground: string;
  background: string;
  /** In modules. */
  margin: number;
  logo: Logo | undefined;
}

/** The library's own names for it. Sizes are in pixels of a screen that has so many a point. */
export function drawingProps(drawing: Drawing, ratio = 1) {
  const { text, level, leastVersion, foreground, background, margin, logo } = drawing;
  const width = logo && logo.width / ratio;
  const height = logo && logo.height / ratio;
  return {
    value: text,
    level,
    minVersion: leastVersion,
    fgColor: foreground,
    bgColor: background,
    marginSize: margin,
    ...(logo && width && height
      ? { imageSettings: { src: logo.src, width, height, excavate: true } }
      : {}),
  };
}

/** The same code as a vector drawing, its logo inside. */
export function svgOf(drawing: Drawing): Blob {
  const host = document.createElement('div');
  const root = createRoot(host);
  flushSync(() =>
    root.render(
      createElement(QRCodeSVG, {
        ...drawingProps(drawing),
        size: SIZE,
        xmlns: 'http://www.w3.org/2000/svg',
      }),
    ),
  );
  const text = host.firstElementChild
    ? new XMLSerializer().serializeToString(host.firstElementChild)
    : '';
  root.unmount();
  return new Blob([text], { type: 'image/svg+xml' });
}
