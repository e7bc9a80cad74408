/** Leaves the page for a stored URL, which replaces the page in the history. */
export function leaveFor(address: string): void {
  location.replace(address);
}

/** Whether a URL is http or https. Only such URLs are stored, and only they are followed. */
export function isWebAddress(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
}
