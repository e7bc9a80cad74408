/** Whether this browser can share a URL with another program. */
export function canShare(): boolean {
  return 'share' in navigator;
}

/** Shares a URL. A share that the user cancels is not a failure. */
export async function share(url: string): Promise<void> {
  try {
    await navigator.share({ url });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return;
    console.error(error);
  }
}
