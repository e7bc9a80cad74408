/** Texts of the QR page and its generator. Those of 'More options' load with its code. */
import { counted } from '../../lib/counted';
import { formatNumber } from '../../lib/format';
import type { Fault, Verdict } from './verdict';

export const page = {
  title: 'Custom QR code generator',
  description:
    'Create a QR code in your colors, with your logo in the center, and download it as a PNG, SVG or PDF file. It never leaves your browser.',
  heading: 'CUSTOM QR CODE GENERATOR',
  howTo: 'HOW TO USE',
  steps: [
    {
      title: 'CREATE QR CODE',
      text: 'Enter the link and, optionally, a name for the downloaded file.',
    },
    {
      title: 'CUSTOMIZE',
      text: 'Add a logo in the center, and change the QR and background colors.',
    },
    { title: 'SHARE IT', text: 'Download the QR code, then share or print it.' },
  ],
};

export const messages = {
  name: 'Name',
  url: 'URL',
  centerImage: 'Center image',
  chooseImage: 'Choose, drop or paste an image',
  chooseOtherImage: 'Choose another image',
  removeImage: 'Remove image',
  loadingImage: 'Loading the image',
  logoAlt: 'Your logo...',
  color: 'Color',
  backgroundColor: 'Background color',
  close: 'CLOSE',
  colorText: 'Hex, rgb() or hsl()',
  badColor: 'Enter a valid color',
  quietZone: 'Quiet zone (for dark backgrounds)',
  download: 'DOWNLOAD QR',
  svg: 'SVG',
  copyImage: 'Copy image',
  copied: 'Copied',
  notCopied: 'Not copied',
  moreOptions: 'More options',
  loadingOptions: 'Loading the options',

  noLink: 'Please enter a link to start downloading...',
  badFile: 'Please choose a valid file type',
  damagedImage: 'This image is damaged. Please choose another file.',
  emptyImage: 'This image is empty. Please choose another file.',
  unsizedImage: 'This SVG has no size. Please save it with a width and a height.',
  notSaved: 'The file was not created. Please try again.',
  tooLong: 'This text is too long for a QR code',
  tooLongHint: 'Remove the image to make room for more text.',
  empty: 'Enter a link to create a QR code.',
  used: (used: number, capacity: number, unit: 'characters' | 'bytes') =>
    `${formatNumber(used)} of ${formatNumber(capacity)} ${unit} used`,
  alternative: (text: string) => `QR code of ${text}`,
  longAlternative: (length: number, start: string) =>
    `QR code of a text of ${counted(length, 'character', 'characters')} that begins with ${start}`,

  scanDistance: (millimetres: number, distance: string) =>
    `Printed ${formatNumber(millimetres)} mm wide, it scans from up to ${distance} away.`,
  centimetres: (distance: number) => `${formatNumber(distance)} cm`,
  metres: (distance: number) => `${formatNumber(distance)} m`,
  badWidth: (min: number, max: number) =>
    `Enter ${formatNumber(min)} to ${formatNumber(max)} millimeters`,

  scanCodeLoading: 'Creating a scan code',
  scanCodeFailed: 'The scan code was not created. This QR code contains the short URL.',
  scanCodeSmaller: (modules: number, before: number) =>
    `Uses a scan code: ${size(modules)} modules instead of ${size(before)}.`,
  scanCodeSame: (modules: number) =>
    `Uses a scan code: ${size(modules)} modules, the same as for the short URL.`,
  scanCodeCorrects: (modules: number, level: string | undefined, before: string | undefined) =>
    `Uses a scan code: ${size(modules)} modules, with error correction ${level ?? ''} instead of ${before ?? ''}.`,
};

/** Verdicts below the code. `well` is for a code with a quiet zone. */
export const verdicts: Record<Verdict, string> = {
  well: 'Scans well',
  care: 'Hard to scan',
  inverted: 'Many cameras cannot scan light codes on a dark background.',
  close: 'The colors are too similar for many cameras.',
  dense: 'Too much text: the modules are too small for many cameras.',
  unread: 'The check could not read this code.',
  unchecked: 'Not checked: the decoder did not load.',
  checking: 'Checking the code',
};
export const wellOnWhite = 'Scans well on white';

/** Toasts after the download of a code with a fault. */
export const saved: Record<Fault, string> = {
  inverted: 'Saved, but it may not scan: light code on a dark background',
  close: 'Saved, but it may not scan: the colors are too similar',
  dense: 'Saved, but it may not scan: the modules are very small',
  unread: 'Saved, but it may not scan: the check could not read it',
  unchecked: 'Saved without a check: the decoder did not load',
  checking: 'Saved without a check: the decoder is still loading',
};

/** Changes that make a code easier to scan. */
export const fixes = {
  errorCorrection: 'Increase error correction',
  automaticErrorCorrection: 'Use automatic error correction',
  quietZone: 'Add a quiet zone',
  contrast: 'Increase contrast',
  smallerImage: 'Use a smaller image',
  removeImage: 'Remove the image',
  shapes: 'Use simpler shapes',
  plainStyle: 'Use the plain style',
  blackOnWhite: 'Use black on white',
  swapColors: 'Swap the colors',
  colors: 'Fix the colors',
  svg: 'Download as SVG to print it larger',
};

function size(modules: number): string {
  return `${modules} × ${modules}`;
}
