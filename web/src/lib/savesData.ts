/** Whether the user has turned on the browser's data saver. */
export function savesData(): boolean {
  // Not every browser has it.
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  return connection?.saveData === true;
}
