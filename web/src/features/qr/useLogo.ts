import { useEffect, useRef, useState } from 'react';
import { showToast } from '../../components/toast';
import type { Logo } from './drawing';
import { messages } from './messages';

/** Pixels along a side of the square that the logo is fitted into. */
const LOGO_SIZE = 100;

/** Pixels along the longer side of the stored image, enough for sharp prints. */
const MAX_PIXELS = 512;

/** 0: none, 1: loading, 2: loaded. */
export type LogoState = { step: 0 } | { step: 1 } | { step: 2; logo: Logo };

/** An error whose message tells the user why an image cannot be a logo. */
class LogoError extends Error {}

interface UseLogo {
  state: LogoState;
  choose: (file: File | null | undefined) => void;
  /** Sets a logo that is already loaded, or none. */
  set: (logo: Logo | undefined) => void;
}

export function useLogo(): UseLogo {
  const [state, setState] = useState<LogoState>({ step: 0 });
  const latest = useRef(0);
  /** The state to return to if the image that is loading is invalid. */
  const before = useRef<LogoState>(state);
  useEffect(
    () => () => {
      latest.current = -1;
    },
    [],
  );

  const rest = (next: LogoState) => {
    before.current = next;
    setState(next);
  };

  const choose = (file: File | null | undefined) => {
    if (!file) return;
    if (!file.type.startsWith('image/')) {
      showToast(messages.badFile);
      return;
    }
    const mine = (latest.current += 1);
    setState({ step: 1 });
    readLogo(file).then(
      (logo) => {
        if (latest.current === mine) rest({ step: 2, logo });
      },
      (error: unknown) => {
        if (latest.current !== mine) return;
        console.warn('The image was not read', error);
        showToast(error instanceof LogoError ? error.message : messages.badFile);
        setState(before.current);
      },
    );
  };

  const set = (logo: Logo | undefined) => {
    latest.current += 1;
    rest(logo ? { step: 2, logo } : { step: 0 });
  };

  return { state, choose, set };
}

/**
 * Redraws an image file as a PNG: with at most `MAX_PIXELS` along a side, rotated as EXIF says, and
 * without metadata such as locations, and without scripts and references. Throws `LogoError` if the
 * image would leave a hole in the code.
 */
async function readLogo(file: File): Promise<Logo> {
  const image = new Image();
  image.src = await readDataUrl(file);
  await image.decode();
  const isSvg = file.type.startsWith('image/svg');
  if (isSvg && !(await hasSize(file))) throw new LogoError(messages.unsizedImage);
  if (!isSvg && !(await isWhole(file))) throw new LogoError(messages.damagedImage);
  // An SVG without intrinsic dimensions fills the square, and any SVG can be enlarged.
  const width = image.naturalWidth || MAX_PIXELS;
  const height = image.naturalHeight || MAX_PIXELS;
  const longer = Math.max(width, height);
  const scale = isSvg ? MAX_PIXELS / longer : Math.min(1, MAX_PIXELS / longer);
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const pen = canvas.getContext('2d');
  if (!pen) throw new Error('Nothing can be drawn');
  pen.imageSmoothingQuality = 'high';
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  if (isEmpty(pen)) throw new LogoError(messages.emptyImage);
  return {
    src: canvas.toDataURL('image/png'),
    width: (LOGO_SIZE * width) / longer,
    height: (LOGO_SIZE * height) / longer,
  };
}

function readDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error('The file was not read'));
    reader.readAsDataURL(file);
  });
}

/** Returns whether an image is complete: an <img> also accepts a truncated one. */
async function isWhole(file: File): Promise<boolean> {
  try {
    (await createImageBitmap(file)).close();
    return true;
  } catch (error) {
    console.warn('The image was not read whole', error);
    return false;
  }
}

/** The start tag of an SVG's root element. */
const ROOT = /<(?:[\w-]+:)?svg\b(?:[^>"']|"[^"]*"|'[^']*')*>/;
/** A width or height attribute that is an absolute length, not a percentage. */
const LENGTH = /\s(width|height)\s*=\s*["']\s*\+?[\d.]+(?:e[+-]?\d+)?\s*(?![\d.\s]|%)/g;

/**
 * Returns whether an SVG declares the size of its drawing. A browser shows an SVG without a size in
 * an area of 300 x 150 pixels. Does not parse the XML: that would report scripts as CSP violations.
 */
async function hasSize(file: File): Promise<boolean> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const [first] = bytes;
  const encoding = first === 0xff ? 'utf-16le' : first === 0xfe ? 'utf-16be' : 'utf-8';
  const text = new TextDecoder(encoding).decode(bytes).replace(/<!--[^]*?-->/g, '');
  const [root = ''] = ROOT.exec(text) ?? [];
  const lengths = new Set(Array.from(root.matchAll(LENGTH), ([, name]) => name));
  return /\sviewBox\s*=/.test(root) || lengths.size === 2;
}

/** Returns whether all pixels are transparent. */
function isEmpty(pen: CanvasRenderingContext2D): boolean {
  const { data } = pen.getImageData(0, 0, pen.canvas.width, pen.canvas.height);
  return data.every((value, at) => at % 4 !== 3 || value === 0);
}
