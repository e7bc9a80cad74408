import { useEffect, useRef, useState } from 'react';
import { showToast } from '../../components/toast';
import type { Logo } from './drawing';
import { messages } from './messages';

/** Drawn in the center, fitted into a square of this many pixels. */
const LOGO_SIZE = 100;

/** Kept with as many pixels along its longer side, sharp in print too. */
const KEPT = 512;

/** 0: none, 1: loading, 2: loaded. */
export type LogoState = { step: 0 } | { step: 1 } | { step: 2; logo: Logo };

/** Says in the page's words why a picture cannot be a logo. */
class LogoError extends Error {}

interface UseLogo {
  state: LogoState;
  choose: (file: File | null | undefined) => void;
  /** Sets one that has been loaded before, or none. */
  set: (logo: Logo | undefined) => void;
}

export function useLogo(): UseLogo {
  const [state, setState] = useState<LogoState>({ step: 0 });
  const latest = useRef(0);
  /** What to go back to when the one that is loading is broken. */
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
 * The picture is drawn anew: small enough, upright as its EXIF says, and without whatever else was
 * in the file, such as places, scripts and references.
 */
async function readLogo(file: File): Promise<Logo> {
  const image = new Image();
  image.src = await readDataUrl(file);
  await image.decode();
  const isSvg = file.type.startsWith('image/svg');
  if (isSvg && !(await hasSize(file))) throw new LogoError(messages.unsizedImage);
  if (!isSvg && !(await isWhole(file))) throw new LogoError(messages.damagedImage);
  // A drawing without a size of its own fills the square, and any drawing is as sharp as one likes.
  const width = image.naturalWidth || KEPT;
  const height = image.naturalHeight || KEPT;
  const longer = Math.max(width, height);
  const scale = isSvg ? KEPT / longer : Math.min(1, KEPT / longer);
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

/** Whether a file has all of its picture: an <img> shows a truncated one as far as it goes. */
async function isWhole(file: File): Promise<boolean> {
  try {
    (await createImageBitmap(file)).close();
    return true;
  } catch (error) {
    console.warn('The image was not read whole', error);
    return false;
  }
}

/** The start tag of an SVG's root. */
const ROOT = /<(?:[\w-]+:)?svg\b(?:[^>"']|"[^"]*"|'[^']*')*>/;
/** A width or a height in units of length. */
const LENGTH = /\s(width|height)\s*=\s*["']\s*\+?[\d.]+(?:e[+-]?\d+)?\s*(?![\d.\s]|%)/g;

/**
 * Whether an SVG says how large its drawing is. A browser shows one without a size in a part of
 * 300 x 150 pixels. Its text is not parsed: that would report its scripts as violations of the CSP.
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

/** Whether nothing was drawn. */
function isEmpty(pen: CanvasRenderingContext2D): boolean {
  const { data } = pen.getImageData(0, 0, pen.canvas.width, pen.canvas.height);
  return data.every((value, at) => at % 4 !== 3 || value === 0);
}
