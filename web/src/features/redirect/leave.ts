/** Leaves the page for a stored address, which takes this one's place in the history. */
export function leaveFor(address: string): void {
  location.replace(address);
}

/** Only http and https are ever stored; nothing else is ever followed. */
export function isWebAddress(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
}
