/** Whether the person asked the browser to load no more than is needed. */
export function savesData(): boolean {
  // Not in every browser.
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  return connection?.saveData === true;
}
