export const DEFAULT_NAME = 'my-qr-code';

/** Maximum bytes of a file name on every system, without the ending. */
const MAX_NAME_BYTES = 200;

/** Names that Windows reserves for devices, whatever ending follows. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)/i;

export type FileEnding = '.png' | '.svg' | '.pdf' | '.zip';

/** The format of a file to create. `pixels` and `millimetres` are along a side. */
export type FileFormat =
  { ending: '.png'; pixels: number } | { ending: '.svg' } | { ending: '.pdf'; millimetres: number };

/** Returns a file name that is valid on every system, and keeps the user's letters. */
export function fileName(given: string, ending: FileEnding): string {
  const name = given
    .normalize('NFC')
    .replace(/\.(?:png|svg|pdf|zip)\s*$/i, '')
    // Invisible characters could make a name look like another one.
    .replace(/[\p{Cc}\p{Cs}\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu, '')
    .replace(/[<>:"/\\|?*]+/g, '-')
    .replace(/\s+/gu, ' ')
    .replace(DEVICE, '$&-')
    .replace(/^[\s.~]+/u, '');
  const cut = shorten(name).replace(/[\s.]+$/u, '');
  return `${cut === '' || /^-+$/.test(cut) ? DEFAULT_NAME : cut}${ending}`;
}

function shorten(name: string): string {
  let kept = '';
  let bytes = 0;
  const encoder = new TextEncoder();
  for (const { segment } of new Intl.Segmenter().segment(name)) {
    bytes += encoder.encode(segment).length;
    if (bytes > MAX_NAME_BYTES) break;
    kept += segment;
  }
  return kept;
}

/** Encodes a canvas as a PNG, pixel for pixel. */
export function pngOf(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob) resolve(blob);
      else reject(new Error('The canvas gave no picture'));
    }, 'image/png');
  });
}

export const canCopyImages = (): boolean =>
  typeof ClipboardItem !== 'undefined' && 'write' in navigator.clipboard;

/**
 * Copies an image to the clipboard; returns whether that succeeded. Takes a promise, because
 * waiting for it first would lose the user activation of the click.
 */
export async function copyImage(png: Promise<Blob>): Promise<boolean> {
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
    return true;
  } catch (error) {
    console.warn('The image was not copied', error);
    return false;
  }
}
