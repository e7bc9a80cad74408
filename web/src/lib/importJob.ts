/**
 * The unfinished or the last import of this browser.
 *
 * Its rows are in IndexedDB, so that it continues after a reload. Logging out deletes both.
 */
import * as v from 'valibot';
import { readItem, removeItem, writeItem } from './storage';

const KEY = 'import';
export const IMPORT_DATABASE = 'import';

const importJob = v.object({
  /** Id of the import on the server. */
  id: v.string(),
  /** Username of the account that began it. */
  username: v.string(),
  /** Number of rows of each call, in their order. */
  sizes: v.array(v.number()),
  /** Whether rows whose ending turns out to be taken get a new one. */
  newCodes: v.boolean(),
  /** Whether its rows are in IndexedDB. If not, they are in the memory of the page that began it. */
  isLasting: v.optional(v.boolean(), true),
  isFinished: v.boolean(),
});
export type ImportJob = v.InferOutput<typeof importJob>;

export function readImportJob(): ImportJob | null {
  try {
    const job = v.safeParse(importJob, JSON.parse(readItem(KEY) ?? 'null'));
    return job.success ? job.output : null;
  } catch {
    return null;
  }
}

export function writeImportJob(job: ImportJob): void {
  writeItem(KEY, JSON.stringify(job));
}

export function forgetImportJob(): void {
  removeItem(KEY);
  if ('indexedDB' in globalThis) indexedDB.deleteDatabase(IMPORT_DATABASE);
}
