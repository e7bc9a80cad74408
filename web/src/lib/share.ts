/** Whether this browser can pass an address on to another program. */
export function canShare(): boolean {
  return 'share' in navigator;
}

/** Passes an address on; that nobody wanted it in the end is no failure. */
export async function share(url: string): Promise<void> {
  try {
    await navigator.share({ url });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return;
    console.error(error);
  }
}
