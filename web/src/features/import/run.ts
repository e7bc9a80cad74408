/**
 * Runs an import, call by call. Stores the results, so that the import continues after a reload.
 */
import { failureCode, type ImportedRow, type ImportResult, type Verdict } from '../../api';
import { importLinks } from '../../api/imports';
import { untilAnswered } from '../../api/untilAnswered';
import { BOM, CSV_TYPE, csvLine } from '../../lib/csv';
import { shortUrl } from '../../lib/config';
import { writeImportJob, type ImportJob } from '../../lib/importJob';
import { newCode, randomText } from '../../lib/newCode';
import type { Account } from '../../lib/owner';
import { inParallel } from '../../lib/parallel';
import { username } from '../../lib/session';
import { batchesOf, MAX_IMPORTED_ROWS } from './batches';
import { MAX_ROWS, type Row } from './parsed';
import { planned, type Choices, type PlannedRow } from './plan';
import type { CallEvents } from './rehearsal';
import { createStore, type ImportStore, type StoredResult } from './store';
import { messages, verdictNames } from './messages';

/** Maximum concurrent calls. The server handles the calls of one account one by one. */
const PARALLEL = 2;
/** Maximum new endings to try for a row. */
const MAX_CODES = 5;
const ID_LENGTH = 22;
/** Name of the Web Lock. Only one tab runs the import; the others wait for it. */
const LOCK = 'import';
/** Milliseconds between checks of the progress in a waiting tab. */
const POLL = 1_000;

/** This browser no longer has the rows of an import. */
export class LostImport extends Error {
  override readonly name = 'LostImport';
}

/** Stores a new import, which then continues after a reload if its store is lasting. */
export async function prepare(
  rows: readonly Row[],
  verdicts: readonly Verdict[],
  choices: Choices,
): Promise<{ job: ImportJob; store: ImportStore }> {
  const id = randomText(ID_LENGTH);
  const store = await createStore(id);
  await store.clear();
  const sizes: number[] = [];
  for (const batch of batchesOf(planned(rows, verdicts, choices), MAX_IMPORTED_ROWS)) {
    await store.put('rows', sizes.length, batch);
    sizes.push(batch.length);
  }
  // These rows are not sent, but are part of the CSV of old and new short URLs.
  const existing = rows
    .filter((_row, index) => verdicts[index] === 'exists')
    .map(({ short_url, code, destination }): StoredResult => {
      return { old: short_url ?? code ?? '', url: destination, verdict: 'exists', code };
    });
  await store.put('results', sizes.length, existing);
  const job: ImportJob = {
    id,
    username: username(),
    sizes,
    newCodes: choices.newCodes,
    isLasting: store.isLasting,
    isFinished: false,
  };
  writeImportJob(job);
  return { job, store };
}

/** Returns how many links were imported. Reads all results. */
export async function countImported(store: ImportStore, job: ImportJob): Promise<number> {
  let count = 0;
  for (const call of job.sizes.keys()) count += newLinks(await store.get('results', call));
  return count;
}

/** Returns how many rows have a result. */
export async function countDone(store: ImportStore, { sizes }: ImportJob): Promise<number> {
  return (await store.keys('results')).reduce((sum, call) => sum + (sizes[call] ?? 0), 0);
}

/**
 * Runs an import from its current state to its end.
 *
 * While another tab runs it, waits and reports its progress. Rejects with a Failure or the signal's
 * reason.
 */
export async function runImport(
  account: Account,
  store: ImportStore,
  job: ImportJob,
  events: CallEvents,
): Promise<void> {
  const total = sumOf(job.sizes);
  const poll = setInterval(() => {
    countDone(store, job).then((done) => events.onProgress(done, total), console.warn);
  }, POLL);
  try {
    await exclusively(events.signal, async () => {
      clearInterval(poll);
      await sendAll(account, store, job, events);
      writeImportJob({ ...job, isFinished: true });
    });
  } finally {
    clearInterval(poll);
  }
}

async function sendAll(account: Account, store: ImportStore, job: ImportJob, events: CallEvents) {
  const { signal, onProgress, onRetryAfter } = events;
  const answered = new Set(await store.keys('results'));
  const total = sumOf(job.sizes);
  let done = await countDone(store, job);
  onProgress(done, total);
  const left = [...job.sizes.keys()].filter((call) => !answered.has(call));
  await inParallel(left, PARALLEL, async (call) => {
    const rows = await store.get('rows', call);
    if (rows === undefined) throw new LostImport();
    await store.put('results', call, await importBatch(rows));
    done += job.sizes[call] ?? 0;
    onProgress(done, total);
  });

  /**
   * Imports a batch. Sends a row whose ending is taken again, with a new ending and another row
   * number.
   */
  async function importBatch(rows: PlannedRow[]): Promise<StoredResult[]> {
    const results = new Map<number, StoredResult>();
    let pending = rows;
    for (let turn = 0; pending.length > 0; turn += 1) {
      const byRow = new Map(pending.map((row) => [row.row + turn * MAX_ROWS, row]));
      pending = [];
      for (const { row: number, verdict, code } of await send(byRow)) {
        const row = byRow.get(number);
        if (!row) continue;
        if (isAboutCode(verdict) && job.newCodes && turn < MAX_CODES) {
          pending.push({ ...row, code: newCode() });
        } else {
          results.set(row.row, { old: row.old, url: row.url, verdict, code });
        }
      }
    }
    return rows.flatMap(({ row }) => results.get(row) ?? []);
  }

  async function send(rows: ReadonlyMap<number, PlannedRow>): Promise<ImportResult[]> {
    const payload = Array.from(rows, ([number, planned]): ImportedRow => {
      const { code, url, title, tags, created_at, expires_at } = planned;
      return { row: number, code, url, title, tags, created_at, expires_at };
    });
    const half = Math.ceil(rows.size / 2);
    try {
      return await untilAnswered(() => importLinks(account, job.id, payload, { signal }), {
        signal,
        onRetryAfter,
      });
    } catch (error) {
      const [only] = payload;
      if (failureCode(error) !== 'invalid-argument' || !only) throw error;
      // An unreadable row must not stop the others.
      if (rows.size === 1) return [{ row: only.row, verdict: 'unreadable', code: null }];
      const entries = [...rows];
      const first = await send(new Map(entries.slice(0, half)));
      return [...first, ...(await send(new Map(entries.slice(half))))];
    }
  }
}

function isAboutCode(verdict: Verdict): boolean {
  return verdict === 'taken' || verdict === 'reserved' || verdict === 'not a code';
}

function newLinks(results: readonly StoredResult[] = []): number {
  return results.filter(({ verdict }) => verdict === 'new').length;
}

export function sumOf(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Runs `work` while no other tab does. Each row is imported exactly once, so without locks a
 * browser loses only time.
 */
async function exclusively(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  const locks = (navigator as { locks?: LockManager }).locks;
  await (locks ? locks.request(LOCK, { signal }, work) : work());
}

/** Returns the CSV of old and new short URLs. */
export async function resultsFile(store: ImportStore, { sizes }: ImportJob): Promise<Blob> {
  const parts: BlobPart[] = [BOM + csvLine(messages.resultColumns)];
  for (let call = 0; call <= sizes.length; call += 1) {
    const results = (await store.get('results', call)) ?? [];
    const lines = results.map(({ old, url, verdict, code }) =>
      csvLine([old, code === null ? null : shortUrl(code), url, verdictNames[verdict]]),
    );
    parts.push(new Blob([lines.join('')]));
  }
  return new Blob(parts, { type: CSV_TYPE });
}
