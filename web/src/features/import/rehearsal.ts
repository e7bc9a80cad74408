/** Dry run: determines the verdict on each row before anything is written. */
import { failureCode, type CheckedRow, type Verdict } from '../../api';
import { checkImport } from '../../api/imports';
import { untilAnswered } from '../../api/untilAnswered';
import type { Account } from '../../lib/owner';
import { inParallel } from '../../lib/parallel';
import { batchesOf, checkedRow, MAX_CHECKED_ROWS } from './batches';
import type { Row } from './parsed';
import { LocalVerdicts } from './verdicts';

/** Maximum concurrent calls. */
const PARALLEL = 3;

export interface CallEvents {
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
  onRetryAfter: (duration: number | null) => void;
}

/** Returns the verdicts in the order of the rows. Rejects with a Failure or the signal's reason. */
export async function rehearse(
  account: Account,
  rows: readonly Row[],
  { signal, onProgress, onRetryAfter }: CallEvents,
): Promise<Verdict[]> {
  const local = new LocalVerdicts();
  const verdicts: Verdict[] = [];
  const undecided: Row[] = [];
  for (const row of rows) {
    const verdict = local.of(row);
    // The server may refuse the destination of rows with an invalid or reserved ending. That
    // verdict prevails.
    const isDecided = verdict !== null && verdict !== 'not a code' && verdict !== 'reserved';
    verdicts.push(verdict ?? 'new');
    if (!isDecided) undecided.push(row);
  }
  const indexes = new Map(rows.map(({ row }, index) => [row, index]));
  let done = rows.length - undecided.length;
  onProgress(done, rows.length);
  await inParallel(batchesOf(checked(undecided), MAX_CHECKED_ROWS), PARALLEL, async (batch) => {
    for (const { row, verdict } of await check(batch)) {
      const index = indexes.get(row);
      if (index !== undefined) verdicts[index] = verdict;
    }
    done += batch.length;
    onProgress(done, rows.length);
  });
  return takenByEarlierRows(rows, verdicts);

  /**
   * Checks a batch. Splits a batch that the server cannot read into halves, down to the unreadable
   * row.
   */
  async function check(batch: CheckedRow[]): ReturnType<typeof checkImport> {
    try {
      return await untilAnswered(() => checkImport(account, batch, { signal }), {
        signal,
        onRetryAfter,
      });
    } catch (error) {
      const [only] = batch;
      if (failureCode(error) !== 'invalid-argument' || !only) throw error;
      if (batch.length === 1) return [{ row: only.row, verdict: 'unreadable' }];
      const half = Math.ceil(batch.length / 2);
      return [...(await check(batch.slice(0, half))), ...(await check(batch.slice(half)))];
    }
  }
}

function* checked(rows: readonly Row[]): Generator<CheckedRow> {
  for (const row of rows) yield checkedRow(row);
}

/** Returns `taken` for codes of earlier rows. The server checks each call by itself. */
function takenByEarlierRows(rows: readonly Row[], verdicts: readonly Verdict[]): Verdict[] {
  const codes = new Set<string>();
  return rows.map(({ code, state }, index) => {
    const verdict = verdicts[index] ?? 'unreadable';
    if (verdict !== 'new' || code === null) return verdict;
    if (codes.has(code)) return 'taken';
    // Rows of another state are skipped unless selected.
    if (state === null) codes.add(code);
    return verdict;
  });
}
