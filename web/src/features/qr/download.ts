export const DEFAULT_NAME = 'my-qr-code';

/** Bytes a file name may have on every system, less the ending. */
const LONGEST = 200;

/** Names that Windows keeps for devices, whatever ending follows. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)/i;

export type FileEnding = '.png' | '.svg' | '.pdf' | '.zip';

/** A file to make of a code; pixels are those along a side. */
export type Wanted =
  { ending: '.png'; pixels: number } | { ending: '.svg' } | { ending: '.pdf'; millimetres: number };

/** A name that every system takes; the person's letters stay. */
export function fileName(given: string, ending: FileEnding): string {
  const name = given
    .normalize('NFC')
    .replace(/\.(?:png|svg|pdf|zip)\s*$/i, '')
    // What the eye does not see could make a name look like another one.
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
    if (bytes > LONGEST) break;
    kept += segment;
  }
  return kept;
}

/** What is on the canvas, pixel for pixel. */
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

/** The promise goes in as it is: waiting for it first would lose the permission of the click. */
export async function copyImage(png: Promise<Blob>): Promise<boolean> {
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
    return true;
  } catch (error) {
    console.warn('The image was not copied', error);
    return false;
  }
}
