const DEFAULT_NAME = 'my-qr-code';
const ENDING = '.png';

export function fileName(given: string): string {
  const name = given.trim() || DEFAULT_NAME;
  return name.toLowerCase().endsWith(ENDING) ? name : `${name}${ENDING}`;
}

/** Saves what is on the canvas, pixel for pixel. */
export function downloadPng(canvas: HTMLCanvasElement, name: string): void {
  canvas.toBlob((blob) => {
    if (!blob) {
      console.error('The canvas gave no picture');
      return;
    }
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = fileName(name);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }, 'image/png');
}
